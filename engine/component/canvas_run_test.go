package component

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// library is a port of canvases by id, in the versions they have now.
type library map[string]string

func (s library) Canvas(_ context.Context, q engine.CanvasQuery) (sub engine.SubCanvas, err error) {
	doc, ok := s[q.ID+q.Version]
	if !ok {
		return sub, errors.New("not found")
	}
	reg, err := engine.NewRegistry(append(Builtin(), enginetest.EchoToolSpec())...)
	if err != nil {
		return sub, err
	}
	sub.Canvas, err = engine.Load(reg, []byte(doc))
	return sub, err
}

// inner is a canvas of nodes after each other, N0, N1 and so on, given as component and params.
func inner(start string, nodes ...string) string {
	lines := []string{"begin Begin " + start}
	for i, n := range nodes {
		lines = append(lines, fmt.Sprintf("N%d %s", i, n))
	}
	return sketch.Chain(lines...)
}

const (
	tellQuery = `Message {"content": ["told {sys.query}"]}`
	askCity   = `UserFillUp {"tips": "where?", "inputs": {"city": {"name": "City", "type": "line"}}}`
	tellCity  = `Message {"content": ["in {N0@city}"]}`
)

func nested(s library, m engine.Model) engine.Options {
	return engine.Options{Ports: engine.Ports{Canvases: s, Model: m}}
}

func TestCanvasRunsAnother(t *testing.T) {
	const typed = `{"inputs": {"n": {"name": "N", "type": "integer"}}}`
	s := library{
		"a":   inner(typed, `Message {"content": ["told {sys.query} {begin@n}"]}`),
		"av1": inner(`{}`, tellQuery),
	}
	c := node(t, "Canvas", `{"canvas": "a", "inputs": {"n": 7}}`, "{X@content}")
	out := play(t, c, nil, engine.Null, nested(s, nil))
	require.NoError(t, out.err)
	require.Equal(t, "told q 7", out.outs.Get("content").Text())
	require.Equal(t, "told q 7", out.outs.Get("outputs").Get("content").Text())

	out = play(t, node(t, "Canvas", `{"canvas": "a", "version": "v1"}`, ""), nil, engine.Null, nested(s, nil))
	require.NoError(t, out.err)
	require.Equal(t, "told q", out.outs.Get("content").Text())

	for params, want := range map[string]string{
		`{"canvas": "a", "inputs": {"n": "seven"}}`: "inputs.n: is a string; expected a integer",
		`{"canvas": "a"}`: "inputs: n is missing",
		`{"canvas": "b"}`: `canvas "b": not found`,
	} {
		out = play(t, node(t, "Canvas", params, ""), nil, engine.Null, nested(s, nil))
		require.ErrorContains(t, out.err, want)
	}
	out = play(t, node(t, "Canvas", `{"canvas": "a"}`, ""), nil, engine.Null, engine.Options{})
	require.ErrorIs(t, out.err, engine.ErrNoPort)
}

func TestEventsOfACanvasHaveThePathOfNodes(t *testing.T) {
	s := library{
		"outer": inner(`{}`, `Canvas {"canvas": "inner"}`),
		"inner": inner(`{}`, `Agent {"tools": [`+echo+`]}`),
	}
	m := insist(1, "echo_tool_0 a")
	found, err := events(t, node(t, "Canvas", `{"canvas": "outer"}`, ""), nested(s, m))
	require.NoError(t, err)
	var paths []string
	for _, e := range found[engine.EventInner] {
		if e.Get("event").Str() == "node_started" {
			paths = append(paths, e.Get("component_id").Str()+" "+e.Get("inner").Text())
		}
	}
	require.Equal(t, []string{`X ["begin"]`, `X ["N0"]`, `X ["N0", "begin"]`, `X ["N0", "N0"]`}, paths)
	tool := found[engine.EventToolFinished][0]
	require.Equal(t, "X", tool.Get("component_id").Str())
	require.Equal(t, `["N0", "N0"]`, tool.Get("inner").Text())
	require.Equal(t, "Ex-->-->", tool.Get("path").Str(), "nodes inside have no display names here")
	usage := found[engine.EventUsage]
	require.Len(t, usage, 2)
	require.Equal(t, "2", usage[1].Get("run").Get("calls").Text(), "the run counts what its canvases use")
	require.Equal(t, "2", found[engine.EventWorkflowFinished][0].Get("usage").Get("calls").Text())
}

func TestFormInACanvasPausesTheRun(t *testing.T) {
	s := library{
		"outer": inner(`{}`, `Canvas {"canvas": "inner"}`),
		"inner": inner(`{}`, askCity, tellCity),
	}
	for _, id := range []string{"inner", "outer"} {
		c := node(t, "Canvas", `{"canvas": "`+id+`"}`, "{X@outputs}")
		first := play(t, c, nil, engine.Null, nested(s, nil))
		require.NoError(t, first.err)
		require.Equal(t, 1, first.asked.Len(), first.asked.JSON())
		require.Equal(t, "where?", first.tips)
		answers := engine.NewObject(1)
		for name := range first.asked.Fields() {
			answers.Set(name, engine.String("Oslo"))
		}
		changed := library{"outer": s["outer"], "inner": inner(`{}`, tellQuery)}
		second := play(t, c, first.state, answers.Value(), nested(changed, nil))
		require.NoError(t, second.err)
		require.Contains(t, second.outs.Get("outputs").JSON(), "Oslo", "the document it began with")
		crashWith(t, c, first, nested(s, nil), func(cut turn) {
			require.Equal(t, first.asked.JSON(), cut.asked.JSON())
		})
		crashWith(t, c, second, nested(s, nil), func(cut turn) {
			require.Equal(t, second.outs.JSON(), cut.outs.JSON())
		})
	}
}

func TestCanvasAsTool(t *testing.T) {
	s := library{"inner": inner(`{"inputs": {"n": {"name": "N", "type": "integer"}}}`, askCity,
		`Message {"content": ["in {N0@city} {begin@n}"]}`)}
	tool := `{"component_name": "Canvas", "name": "Sub", "params": {"canvas": "inner"}}`
	c := node(t, "Agent", `{"tools": [`+tool+`]}`, "")
	m := &script{info: engine.Info{Tools: true}, replies: []reply{{calls: []engine.ToolCall{
		{Name: "canvas_0", Arguments: `{"query": "x", "inputs": {"n": 1}}`},
		{Name: "canvas_0", Arguments: `{"query": "x", "inputs": {"n": 2}}`},
	}}}}
	first := play(t, c, nil, engine.Null, nested(s, m))
	require.NoError(t, first.err)
	require.Equal(t, 2, first.asked.Len(), "both calls ask")
	require.Contains(t, m.asked[0].Tools[0].Parameters.JSON(), `"n":{"description":"N","type":"integer"}`)
	answers := engine.NewObject(2)
	for name := range first.asked.Fields() {
		city := "Oslo"
		if strings.Contains(name, `"n":2`) {
			city = "Bern"
		}
		answers.Set(name, engine.String(city))
	}
	m = insist(0)
	second := play(t, c, first.state, answers.Value(), nested(s, m))
	require.NoError(t, second.err)
	require.Equal(t, `["in Oslo 1", "in Bern 2"]`, results(second.outs.Get("use_tools")))
}

func TestNestingOfCanvasesIsLimited(t *testing.T) {
	s := library{"loop": inner(`{}`, `Canvas {"canvas": "loop"}`)}
	out := play(t, node(t, "Canvas", `{"canvas": "loop"}`, ""), nil, engine.Null, nested(s, nil))
	require.ErrorIs(t, out.err, engine.ErrLimit)
	require.ErrorContains(t, out.err, "more than 8 canvases inside each other")

	twice := `Canvas {"canvas": "leaf"}`
	s = library{"two": inner(`{}`, twice, twice, twice), "leaf": inner(`{}`, tellQuery)}
	opt := nested(s, nil)
	opt.MaxSteps = 5
	out = play(t, node(t, "Canvas", `{"canvas": "two"}`, ""), nil, engine.Null, opt)
	require.ErrorIs(t, out.err, engine.ErrLimit)
	require.ErrorContains(t, out.err, "more than 5 executions in canvases")
}

func TestLimitsHoldInsideOfCanvases(t *testing.T) {
	ask := "LLM"
	s := library{"inner": inner(`{}`, ask, ask, ask)}
	m := &priced{}
	opt := nested(s, m)
	opt.Limits.ModelCalls = 2
	_, err := events(t, node(t, "Canvas", `{"canvas": "inner"}`, ""), opt)
	require.ErrorIs(t, err, engine.ErrTooManyModelCalls)
	require.Equal(t, 2, m.calls)
}

func TestCancelReachesCanvases(t *testing.T) {
	s := library{"inner": inner(`{}`, "LLM")}
	m := &priced{together: -1, all: make(chan struct{})} // answers when it is cancelled
	opt := nested(s, m)
	opt.CancelAfter = &engine.CancelAfter{Event: engine.EventInner, Nth: 3}
	_, err := events(t, node(t, "Canvas", `{"canvas": "inner"}`, ""), opt)
	require.ErrorIs(t, err, engine.ErrCanceled)
}
