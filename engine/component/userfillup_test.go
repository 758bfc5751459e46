package component_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func TestUserFillUpAsksAndContinues(t *testing.T) {
	c, err := engine.Load(registry(t), sketch.Bytes(
		`begin Begin -> F`,
		`F UserFillUp {"tips": "q={sys.query} l={env.l} n={env.n} o={env.o}", "inputs": {"a": {"type": "line"}, "b": {"type": "line", "optional": true}}} -> M`,
		`M Message {"content": "a={F@a} b={F@b} tips={F@tips}"}`,
		`=env.l ["x", 1]`, `=env.n null`, `=env.o {"k": "\\1"}`))
	require.NoError(t, err)
	st := c.State()
	s := playOn(t, c, st, engine.Input{Query: engine.String("Q")}, engine.Ports{})
	require.NoError(t, s.err)
	require.Equal(t, []string{"begin"}, s.order)
	require.Equal(t, `q=Q l=x,1 n=null o={"k": "\\1"}`, s.ends[0].Get("tips").Str())
	require.Equal(t, `{"a":{"type":"line"},"b":{"type":"line","optional":true}}`, s.ends[0].Get("inputs").JSON())

	s = playOn(t, c, st, engine.Input{Inputs: value(t, `{"a": "yes"}`)}, engine.Ports{})
	require.NoError(t, s.err)
	require.Equal(t, `a=yes b= tips=q=Q l=x,1 n=null o={"k": "\\1"}`, s.said)
}

func TestUserFillUpTakesRequiredForOptional(t *testing.T) {
	const form = `{"inputs": {"a": {"type": "line", "required": true}, "b": {"type": "line", "required": false},
		"c": {"type": "line", "optional": true, "required": true}, "d": {"type": "line", "required": "yes"}}}`
	c, err := engine.Load(registry(t), sketch.Bytes(
		"begin Begin "+form+" -> F", "F UserFillUp "+form+" -> M", `M Message {"content": "{F@a}{F@b}"}`))
	require.NoError(t, err)
	begin, err := c.InputForm("begin")
	require.NoError(t, err)
	st := c.State()
	s := playOn(t, c, st, engine.Input{}, engine.Ports{})
	for _, asked := range []engine.Value{begin, s.ends[0].Get("inputs")} {
		require.Equal(t, "false", asked.Get("a").Get("optional").JSON())
		require.Equal(t, "true", asked.Get("b").Get("optional").JSON())
		require.Equal(t, "true", asked.Get("c").Get("optional").JSON(), "what the field says itself counts")
		require.True(t, asked.Get("d").Get("optional").IsNull())
	}
	s = playOn(t, c, st, engine.Input{Inputs: value(t, `{"b": "x"}`)}, engine.Ports{})
	require.NoError(t, s.err)
	require.True(t, st.Paused())
	require.Equal(t, []string{"a", "d"}, keys(s.ends[len(s.ends)-1].Get("inputs")))
	s = playOn(t, c, st, engine.Input{Inputs: value(t, `{"a": "y", "d": "z"}`)}, engine.Ports{})
	require.NoError(t, s.err)
	require.Equal(t, "yx", s.said)
}

func keys(v engine.Value) (names []string) {
	for name := range v.Fields() {
		names = append(names, name)
	}
	return names
}

func TestUserFillUpWithoutTips(t *testing.T) {
	s := play(t, engine.Input{}, engine.Ports{}, `begin Begin -> F`,
		`F userfillup {"enable_tips": false, "tips": "unseen", "inputs": {}}`)
	require.Equal(t, "", s.ends[0].Get("tips").Str())
	require.Equal(t, `{}`, s.ends[0].Get("inputs").JSON())
}

func TestUserFillUpForgetsEarlierAnswers(t *testing.T) {
	c, err := engine.Load(registry(t), sketch.Bytes(
		`begin Begin -> L`,
		`L Loop {"maximum_loop_count": 2, "logical_operator": "or"} -> M`,
		`LI LoopItem -> F ^ L`,
		`F UserFillUp {"inputs": {"a": {"optional": true}, "b": {}}} -> S ^ L`,
		`S Message {"content": "[{F@a}{F@b}]"} ^ L`,
		`M Message {"content": "end"}`))
	require.NoError(t, err)
	st := c.State()
	playOn(t, c, st, engine.Input{}, engine.Ports{})
	s := playOn(t, c, st, engine.Input{Inputs: value(t, `{"a": "1", "b": "2"}`)}, engine.Ports{})
	require.Equal(t, "[12]", s.said)
	require.True(t, st.Paused(), "a form in a loop asks in every turn")
	s = playOn(t, c, st, engine.Input{Inputs: value(t, `{"b": "3"}`)}, engine.Ports{})
	require.NoError(t, s.err)
	require.Equal(t, "[3]end", s.said, "an answer of an earlier turn is gone")
}

func TestUserFillUpTipsAreWithoutReasoning(t *testing.T) {
	s := play(t, engine.Input{Query: engine.String("Q")}, engine.Ports{Model: parrot{"<think>hm</think>", "plan"}},
		`begin Begin -> L`, `L LLM {"cite": false} -> M F`, `M Message {"content": "{L@content}"}`,
		`F UserFillUp {"tips": "{L@content}?", "inputs": {}}`)
	require.Equal(t, "plan?", s.ends[len(s.ends)-1].Get("tips").Str())
}

func TestUserFillUpWaitsForItsTips(t *testing.T) {
	s := play(t, engine.Input{}, engine.Ports{},
		`begin Begin -> F A`,
		`A StringTransform {"method": "merge", "script": "one"} -> B`,
		`B StringTransform {"method": "merge", "script": "two"}`,
		`F UserFillUp {"tips": "see {B@result}", "inputs": {}}`)
	require.Equal(t, []string{"begin", "A", "B"}, s.order)
	require.Equal(t, "see two", s.ends[0].Get("tips").Str())
}
