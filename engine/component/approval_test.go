package component

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// guarded is echo as a tool that needs approval.
var guarded = strings.Replace(echo, `"params": {`, `"params": {"approval": true, `, 1)

// turn runs one turn of a conversation, from the saved state before it, as another process would.
type turn struct {
	asked  engine.Value // fields of the form it ended with; null without one
	tips   string
	events []*engine.Event
	state  []byte // the saved document
	outs   engine.Value
	err    error
}

func play(t *testing.T, c *engine.Canvas, saved []byte, inputs engine.Value, opt engine.Options) turn {
	t.Helper()
	return playAs(t, c, saved, engine.Input{Query: engine.String("q"), Inputs: inputs}, opt)
}

func playAs(t *testing.T, c *engine.Canvas, saved []byte, in engine.Input, opt engine.Options) turn {
	t.Helper()
	st := c.State()
	if saved != nil {
		var err error
		st, err = c.Restore(saved)
		require.NoError(t, err)
	}
	opt.Seed, opt.Checkpoints = 1, true
	opt.Ports.Clock, opt.Ports.IDs = &enginetest.Clock{}, &enginetest.IDs{}
	return takeTurn(c, st, c.Run(t.Context(), st, in, opt))
}

func takeTurn(c *engine.Canvas, st *engine.State, run func(func(*engine.Event, error) bool)) turn {
	var out turn
	for e, err := range run {
		if err != nil {
			out.err = err
			break
		}
		out.events = append(out.events, e.Clone())
		if e.Type == engine.EventUserInputs {
			out.asked, out.tips = e.Data().Get("inputs"), e.Data().Get("tips").Str()
		}
	}
	out.state, out.outs = c.Save(st), st.Outputs("X")
	return out
}

// names returns the fields that ask, without those for arguments.
func names(form engine.Value) []string {
	var list []string
	for name, field := range form.Fields() {
		if !field.Get("approval").IsNull() {
			list = append(list, name)
		}
	}
	return list
}

// decided answers every approval of a form.
func decided(form engine.Value, answer, arguments string) engine.Value {
	b := engine.NewObject(2)
	for _, name := range names(form) {
		b.Set(name, engine.String(answer))
		if arguments != "" {
			b.Set(name+engine.ArgumentsSuffix, engine.String(arguments))
		}
	}
	return b.Value()
}

func TestToolWaitsForApproval(t *testing.T) {
	for _, c := range []struct{ answer, arguments, told string }{
		{"yes", "", "A"},
		{"yes", `{"query": "b"}`, "B"},
		{"no", "", "rejected by a person"},
	} {
		for _, mode := range []string{"native", "prompt"} {
			t.Run(c.answer+" "+mode+" "+c.arguments, func(t *testing.T) {
				canvas := node(t, "Agent", `{"tool_mode": "`+mode+`", "tools": [`+guarded+`]}`, "{X@content}")
				m := insist(1, "echo_tool_0 a")
				if mode == "prompt" {
					m = say(plan("echo_tool_0 a"))
				}
				first := play(t, canvas, nil, engine.Null, engine.Options{Ports: engine.Ports{Model: m}})
				require.NoError(t, first.err)
				require.Len(t, names(first.asked), 1)
				field := first.asked.Get(names(first.asked)[0])
				require.Equal(t, `{"query": "a"}`, field.Get("approval").Get("arguments").Text())
				require.Equal(t, "options", field.Get("type").Str())
				require.Len(t, m.asked, 1)

				m = say(complete, "done")
				if mode == "native" {
					m = say("done")
				}
				m.info.Tools = true
				answers := decided(first.asked, c.answer, c.arguments)
				second := play(t, canvas, first.state, answers, engine.Options{Ports: engine.Ports{Model: m}})
				require.NoError(t, second.err)
				require.True(t, second.asked.IsNull(), second.asked.JSON())
				require.Equal(t, "done", second.outs.Get("content").Text())
				require.Contains(t, last(m.asked[0]), c.told, "the model learns of the call")
			})
		}
	}
}

func TestOtherToolsOfTheRoundRunOnce(t *testing.T) {
	canvas := node(t, "Agent", `{"tools": [`+echo+`, `+guarded+`]}`, "")
	m := insist(1, "echo_tool_0 a", "echo_tool_1 b")
	first := play(t, canvas, nil, engine.Null, engine.Options{Ports: engine.Ports{Model: m}})
	require.Equal(t, 1, finished(first.events), "the tool without approval ran")
	m = &script{info: engine.Info{Tools: true}, replies: []reply{{text: "done"}}}
	opt := engine.Options{Ports: engine.Ports{Model: m}}
	second := play(t, canvas, first.state, decided(first.asked, "yes", ""), opt)
	require.NoError(t, second.err)
	require.Equal(t, 1, finished(second.events), "only the approved tool ran")
	require.Equal(t, `["A", "B"]`, results(second.outs.Get("use_tools")))
}

func finished(events []*engine.Event) (n int) {
	for _, e := range events {
		if e.Type == engine.EventToolFinished {
			n++
		}
	}
	return n
}

func results(tools engine.Value) string {
	list := engine.List()
	for _, t := range tools.Elements() {
		list = list.Append(t.Get("results"))
	}
	return list.Text()
}

func TestEditedArgumentsMustFitTheSchema(t *testing.T) {
	canvas := node(t, "Agent", `{"tools": [`+guarded+`]}`, "")
	opt := engine.Options{Ports: engine.Ports{Model: insist(1, "echo_tool_0 a")}}
	first := play(t, canvas, nil, engine.Null, opt)
	for arguments, told := range map[string]string{
		`{"query": 7}`: "arguments.query: is a number; expected a string",
		`{}`:           "query is missing", `[]`: "is a list", `{`: "arguments:",
	} {
		again := play(t, canvas, first.state, decided(first.asked, "yes", arguments), opt)
		require.Contains(t, again.tips, told)
		require.Equal(t, names(first.asked), names(again.asked))
		answers := decided(again.asked, "yes", `{"query": "b"}`)
		done := play(t, canvas, again.state, answers, engine.Options{Ports: engine.Ports{Model: insist(0)}})
		require.NoError(t, done.err)
		require.Equal(t, `["B"]`, results(done.outs.Get("use_tools")))
	}
	unclear := play(t, canvas, first.state, decided(first.asked, "perhaps", ""), opt)
	require.Contains(t, unclear.tips, "expected yes or no")
}

func TestToolOfAnAgentOfAnAgentWaitsForApproval(t *testing.T) {
	inner := `{"component_name": "Agent", "name": "Inner", "params": {"tools": [` + guarded + `]}}`
	canvas := node(t, "Agent", `{"tools": [`+inner+`]}`, "")
	m := &script{info: engine.Info{Tools: true}, replies: []reply{
		{calls: delegate},
		{calls: []engine.ToolCall{{Name: "echo_tool_0", Arguments: `{"query": "a"}`}}},
	}}
	first := play(t, canvas, nil, engine.Null, engine.Options{Ports: engine.Ports{Model: m}})
	require.NoError(t, first.err)
	require.Len(t, names(first.asked), 1)
	m = &script{info: engine.Info{Tools: true}, replies: []reply{{text: "inner done"}, {text: "done"}}}
	opt := engine.Options{Ports: engine.Ports{Model: m}}
	second := play(t, canvas, first.state, decided(first.asked, "yes", ""), opt)
	require.NoError(t, second.err)
	require.Equal(t, "done", second.outs.Get("content").Text())
	require.Equal(t, "A", last(m.asked[0]))
	require.Equal(t, "inner done", last(m.asked[1]))
}

// What the provider attached to a call comes back with its result, also after a pause.
func TestAttachedMembersSurviveAPause(t *testing.T) {
	canvas := node(t, "Agent", `{"tools": [`+guarded+`]}`, "")
	signed := engine.Object("provider", "P", "message", engine.Object("reasoning_content", "hm"))
	m := &script{info: engine.Info{Tools: true}, replies: []reply{
		{calls: []engine.ToolCall{{Name: "echo_tool_0", Arguments: `{"query": "a"}`}}, keep: signed},
	}}
	first := play(t, canvas, nil, engine.Null, engine.Options{Ports: engine.Ports{Model: m}})
	require.NoError(t, first.err)
	m = &script{info: engine.Info{Tools: true}, replies: []reply{{text: "done"}}}
	opt := engine.Options{Ports: engine.Ports{Model: m}}
	second := play(t, canvas, first.state, decided(first.asked, "yes", ""), opt)
	require.NoError(t, second.err)
	require.Equal(t, signed.JSON(), m.asked[0].Messages[1].Opaque.JSON())
}

func TestNodeWaitsForApproval(t *testing.T) {
	const params = `"query": "sys.query", "replies": {"q": "Q", "b": "B"}`
	for _, named := range []bool{false, true} {
		canvas, opt := node(t, "EchoTool", `{"approval": true, `+params+`}`, ""), engine.Options{}
		if named {
			canvas, opt = node(t, "EchoTool", `{`+params+`}`, ""), engine.Options{Approval: []string{"EchoTool"}}
		}
		first := play(t, canvas, nil, engine.Null, opt)
		require.NoError(t, first.err)
		require.Equal(t, []string{"approval:X"}, names(first.asked))
		for _, e := range first.events {
			require.False(t, e.Type == engine.EventNodeStarted && e.Node == "X", "it has not begun")
		}
		yes := play(t, canvas, first.state, decided(first.asked, "yes", ""), opt)
		require.NoError(t, yes.err)
		require.Equal(t, "Q", yes.outs.Get("formalized_content").Text())
		edited := play(t, canvas, first.state, decided(first.asked, "yes", `{"query": "b"}`), opt)
		require.NoError(t, edited.err)
		require.Equal(t, "B", edited.outs.Get("formalized_content").Text())
		no := play(t, canvas, first.state, decided(first.asked, "no", ""), opt)
		require.ErrorIs(t, no.err, engine.ErrRejected)
		require.Equal(t, "rejected", engine.CodeOf(no.err))
	}
}

// TestApprovalSurvivesEveryCrash cuts both turns after each entry of their logs and continues
// elsewhere.
func TestApprovalSurvivesEveryCrash(t *testing.T) {
	canvas := node(t, "Agent", `{"tools": [`+echo+`, `+guarded+`]}`, "{X@content}")
	before := func() engine.Model {
		return insist(1, "echo_tool_0 a", "echo_tool_1 b")
	}
	after := func() engine.Model {
		m := say("done")
		m.info.Tools = true
		return m
	}
	first := play(t, canvas, nil, engine.Null, engine.Options{Ports: engine.Ports{Model: before()}})
	crash(t, canvas, first, before, func(cut turn) { require.Equal(t, first.asked.JSON(), cut.asked.JSON()) })
	opt := engine.Options{Ports: engine.Ports{Model: after()}}
	second := play(t, canvas, first.state, decided(first.asked, "yes", ""), opt)
	require.Equal(t, "done", second.outs.Get("content").Text())
	crash(t, canvas, second, after, func(cut turn) {
		require.Equal(t, second.outs.Get("use_tools").JSON(), cut.outs.Get("use_tools").JSON())
		require.Equal(t, "done", cut.outs.Get("content").Text())
	})
}

// crash continues a run from each of its entries, with a new model each time.
func crash(t *testing.T, c *engine.Canvas, whole turn, model func() engine.Model, check func(cut turn)) {
	t.Helper()
	crashEach(t, c, whole, func() engine.Options { return engine.Options{Ports: engine.Ports{Model: model()}} }, check)
}

func crashWith(t *testing.T, c *engine.Canvas, whole turn, opt engine.Options, check func(cut turn)) {
	t.Helper()
	crashEach(t, c, whole, func() engine.Options { return opt }, check)
}

func crashEach(
	t *testing.T, c *engine.Canvas, whole turn, options func() engine.Options, check func(cut turn),
) {
	t.Helper()
	cuts := 0
	for i := range whole.events {
		st, err := c.StateAt(whole.events[:i+1], 0)
		if err != nil || !st.Unfinished() {
			continue
		}
		cuts++
		opt := options()
		opt.Seed, opt.Checkpoints, opt.Ports.Clock, opt.Ports.IDs = 1, true, &enginetest.Clock{}, &enginetest.IDs{}
		cut := takeTurn(c, st, c.Continue(t.Context(), st, opt))
		require.NoError(t, cut.err, "crash after entry %d", i+1)
		check(cut)
	}
	require.Greater(t, cuts, 3)
}
