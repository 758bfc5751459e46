package component

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// priced is a model of which each answer uses 1,000 tokens. It answers when the expected number of
// calls is active, or when the test releases it.
type priced struct {
	mu       sync.Mutex
	calls    int
	together int           // calls to wait for before the first answer
	all      chan struct{} // closed when they are there
}

func (p *priced) Generate(ctx context.Context, _ *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	p.mu.Lock()
	p.calls++
	if p.calls == p.together {
		close(p.all)
	}
	p.mu.Unlock()
	return func(yield func(engine.ModelPiece, error) bool) {
		if p.all != nil {
			select {
			case <-p.all:
			case <-ctx.Done():
			}
		}
		yield(engine.ModelPiece{Text: "said", Usage: &engine.Usage{Prompt: 600, Completion: 400}}, nil)
	}
}

// wide returns a canvas of begin and n parallel LLM nodes.
func wide(t *testing.T, n int, settings string) *engine.Canvas {
	t.Helper()
	reg, err := engine.NewRegistry(Builtin()...)
	require.NoError(t, err)
	lines := []string{"@settings " + settings, "begin Begin ->"}
	for i := range n {
		lines[1] += fmt.Sprintf(" LLM:%d", i)
		lines = append(lines, fmt.Sprintf(`LLM:%d LLM {"llm_id": "m@p"}`, i))
	}
	c, err := engine.Load(reg, sketch.Bytes(lines...))
	require.NoError(t, err)
	return c
}

// events runs a canvas once and returns its events by type, and its error.
func events(t *testing.T, c *engine.Canvas, opt engine.Options) (map[engine.EventType][]engine.Value, error) {
	t.Helper()
	opt.Seed, opt.Internal = 1, true
	opt.Ports.Clock, opt.Ports.IDs = &enginetest.Clock{}, &enginetest.IDs{}
	found := map[engine.EventType][]engine.Value{}
	for e, err := range c.Run(t.Context(), c.State(), engine.Input{Query: engine.String("q")}, opt) {
		if err != nil {
			return found, err
		}
		found[e.Type] = append(found[e.Type], e.Data())
	}
	return found, nil
}

func TestTokensExceedTheirLimitByOneAnswerAtMost(t *testing.T) {
	for limit, calls := range map[int64]int{1: 1, 1000: 1, 2500: 3} {
		m := &priced{}
		found, err := events(t, wide(t, 5, "null"), engine.Options{
			Ports: engine.Ports{Model: m}, Limits: engine.Limits{Tokens: limit},
		})
		require.ErrorIs(t, err, engine.ErrTooManyTokens)
		require.Equal(t, "too_many_tokens", engine.CodeOf(err))
		require.Equal(t, calls, m.calls, "limit %d", limit)
		require.Equal(t, "too_many_tokens", found[engine.EventLimitReached][0].Get("code").Str())
	}
}

func TestModelCallsOfARunWithoutTokenLimitAreMadeTogether(t *testing.T) {
	m := &priced{together: 5, all: make(chan struct{})}
	_, err := events(t, wide(t, 5, "null"), engine.Options{Ports: engine.Ports{Model: m}})
	require.NoError(t, err)
	require.Equal(t, 5, m.calls)
}

func TestModelCallsNeverExceedTheirLimit(t *testing.T) {
	for _, calls := range []int64{3, 100} {
		m := &priced{}
		opt := engine.Options{Ports: engine.Ports{Model: m}, Limits: engine.Limits{ModelCalls: calls}}
		_, err := events(t, wide(t, 5, `{"limits": {"model_calls": 3}}`), opt)
		require.ErrorIs(t, err, engine.ErrTooManyModelCalls)
		require.Equal(t, 3, m.calls)
	}
}

func TestCanvasCannotRaiseLimits(t *testing.T) {
	m := &priced{}
	_, err := events(t, wide(t, 5, `{"limits": {"model_calls": 100}}`), engine.Options{
		Ports: engine.Ports{Model: m}, Limits: engine.Limits{ModelCalls: 2},
	})
	require.ErrorIs(t, err, engine.ErrTooManyModelCalls)
	require.Equal(t, 2, m.calls)
}

func TestCostByPriceTable(t *testing.T) {
	// 600 tokens at 1 and 400 at 2 for a million are 0.0014.
	prices := engine.Prices{"m": {Input: 1, Output: 2}}
	m := &priced{}
	found, err := events(t, wide(t, 2, `{"prices": {"m": {"input": 0, "output": 0}}}`), engine.Options{
		Ports: engine.Ports{Model: m}, Prices: prices, Limits: engine.Limits{Cost: engine.MicrosOf(0.01)},
	})
	require.NoError(t, err)
	usage := found[engine.EventUsage]
	require.Len(t, usage, 2)
	require.Equal(t, "0.0014", usage[1].Get("cost").Text())
	require.Equal(t, "0.0014", usage[1].Get("node").Get("cost").Text())
	require.Equal(t, "0.0028", usage[1].Get("run").Get("cost").Text())
	require.Equal(t, "2000", usage[1].Get("run").Get("total_tokens").Text())

	m = &priced{}
	opt := engine.Options{Ports: engine.Ports{Model: m}, Prices: prices}
	_, err = events(t, wide(t, 5, `{"limits": {"cost": 0.002}}`), opt)
	require.ErrorIs(t, err, engine.ErrTooExpensive)
	require.Equal(t, 2, m.calls)

	opt = engine.Options{Ports: engine.Ports{Model: m}, Limits: engine.Limits{Cost: 1}}
	_, err = events(t, wide(t, 1, "null"), opt)
	require.ErrorIs(t, err, engine.ErrNoPrice)
	require.Equal(t, 2, m.calls, "a model without a price is not called")
}

// knowing is a model whose port knows its price.
type knowing struct{ *priced }

func (knowing) ModelInfo(context.Context, string) engine.Info {
	return engine.Info{Price: &engine.Price{Input: 1, Output: 2}}
}

// The author of a canvas does not pay for its models, so he must not make them free.
func TestCanvasCannotLowerPrices(t *testing.T) {
	for name, opt := range map[string]engine.Options{
		"of the port":     {Ports: engine.Ports{Model: knowing{&priced{}}}},
		"of the operator": {Ports: engine.Ports{Model: &priced{}}, Prices: engine.Prices{"*": {Input: 1, Output: 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			const free = `{"prices": {"m@p": {"input": 0, "output": 0}, "*": {"input": 0, "output": 0}}}`
			found, err := events(t, wide(t, 1, free), opt)
			require.NoError(t, err)
			require.Equal(t, "0.0014", found[engine.EventUsage][0].Get("cost").Text())
		})
	}
	const own = `{"prices": {"m": {"input": 1, "output": 2}}}`
	found, err := events(t, wide(t, 1, own), engine.Options{Ports: engine.Ports{Model: &priced{}}})
	require.NoError(t, err)
	require.Equal(t, "0.0014", found[engine.EventUsage][0].Get("cost").Text(), "the model has no other price")
}

func TestRunEndsAfterItsSeconds(t *testing.T) {
	m := &priced{together: -1, all: make(chan struct{})}
	found, err := events(t, wide(t, 1, `{"limits": {"seconds": 1}}`), engine.Options{Ports: engine.Ports{Model: m}})
	require.ErrorIs(t, err, engine.ErrTooSlow)
	require.Equal(t, "run_too_long", engine.CodeOf(err))
	require.Equal(t, "run_too_long", found[engine.EventLimitReached][0].Get("code").Str())
}

// insist returns a script that requests the same tool calls in each round.
func insist(rounds int, calls ...string) *script {
	s := &script{info: engine.Info{Tools: true}}
	for range rounds {
		var list []engine.ToolCall
		for _, c := range calls {
			name, query, _ := strings.Cut(c, " ")
			list = append(list, engine.ToolCall{Name: name, Arguments: `{"query": "` + query + `"}`})
		}
		s.replies = append(s.replies, reply{calls: list})
	}
	s.replies = append(s.replies, reply{text: "done"})
	return s
}

func TestAgentLimits(t *testing.T) {
	for _, c := range []struct {
		name, params string
		kind         error
		calls        int // of the model
	}{
		{"model calls", `"limit_model_calls": 2`, engine.ErrTooManyModelCalls, 2},
		{"tool calls", `"limit_tool_calls": 3`, engine.ErrTooManyToolCalls, 2},
		{"repeats", `"repeated_calls": 2`, engine.ErrTooManyRepeats, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := insist(20, "echo_tool_0 a", "echo_tool_0 b")
			canvas := node(t, "Agent", `{"max_rounds": 30, "tools": [`+echo+`], `+c.params+`}`, "")
			s := run(t, canvas, nil, "q", engine.Null, engine.Ports{Model: m})
			require.ErrorIs(t, s.err, c.kind)
			require.Len(t, m.asked, c.calls)
		})
	}
}

func TestRoundsOfARunAreLimited(t *testing.T) {
	m := insist(20, "echo_tool_0 a")
	c := node(t, "Agent", `{"max_rounds": 30, "tools": [`+echo+`]}`, "")
	_, err := events(t, c, engine.Options{Ports: engine.Ports{Model: m}, Limits: engine.Limits{Rounds: 4}})
	require.ErrorIs(t, err, engine.ErrTooManyRounds)
	require.Len(t, m.asked, 4)
}

func TestModelGetsAnErrorForRepeatedCalls(t *testing.T) {
	m := insist(3, "echo_tool_0 a")
	c := node(t, "Agent", `{"repeated_calls": 2, "tools": [`+echo+`]}`, "")
	s := run(t, c, nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Len(t, s.trace, 2, "the tool ran twice")
	require.Contains(t, m.asked[3].Messages[6].Content, "repeated tool call: echo_tool_0 was called 2 times")
}

// delegate is a call of the agent Inner.
var delegate = []engine.ToolCall{
	{Name: "Inner_0", Arguments: `{"user_prompt": "x", "reasoning": "r", "context": "c"}`},
}

func TestLimitOfAnAgentAppliesToItsAgents(t *testing.T) {
	inner := `{"component_name": "Agent", "name": "Inner", "params": {"tools": [` + echo + `]}}`
	m := &script{info: engine.Info{Tools: true}, replies: []reply{
		{calls: delegate},
		{calls: []engine.ToolCall{{Name: "echo_tool_0", Arguments: `{"query": "a"}`}}},
		{text: "never"},
	}}
	c := node(t, "Agent", `{"limit_model_calls": 2, "tools": [`+inner+`]}`, "")
	s := run(t, c, nil, "q", engine.Null, engine.Ports{Model: m})
	require.ErrorIs(t, s.err, engine.ErrTooManyModelCalls)
	require.Len(t, m.asked, 2)

	// A call of the inner agent and those that it makes count together.
	m = insist(20, "echo_tool_0 a")
	m.replies = append([]reply{{calls: delegate}}, m.replies...)
	c = node(t, "Agent", `{"limit_tool_calls": 3, "tools": [`+inner+`]}`, "")
	s = run(t, c, nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err, "the outer agent learns why the inner one ended")
	ran := 0
	for _, e := range s.trace {
		if e.Get("tool_name").Str() == "echo_tool_0" {
			ran++
		}
	}
	require.Equal(t, 2, ran)
}

// Equal calls of the agents inside of one are bounded together, also those of agents between.
func TestEqualCallsOfInnerAgentsCountTogether(t *testing.T) {
	inner := `{"component_name": "Agent", "name": "Inner", "params": {"tools": [` + echo + `]}}`
	between := `{"component_name": "Agent", "name": "Between", "params": {"tools": [` + inner + `]}}`
	ask := func(name string, n int) reply {
		args := fmt.Sprintf(`{"user_prompt": "%d", "reasoning": "r", "context": "c"}`, n)
		return reply{calls: []engine.ToolCall{{Name: name, Arguments: args}}}
	}
	equal := reply{calls: []engine.ToolCall{{Name: "echo_tool_0", Arguments: `{"query": "a"}`}}}
	for _, c := range []struct {
		name, tools string
		delegations []reply
	}{
		{"one inside", inner, []reply{ask("Inner_0", 0)}},
		{"two inside", between, []reply{ask("Between_0", 0), ask("Inner_0", 0)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &script{info: engine.Info{Tools: true}}
			for n := range 15 {
				if len(c.delegations) > 1 {
					m.replies = append(m.replies, ask("Between_0", n), ask("Inner_0", n))
				} else {
					m.replies = append(m.replies, ask("Inner_0", n))
				}
				m.replies = append(m.replies, equal, reply{text: "done"})
				if len(c.delegations) > 1 {
					m.replies = append(m.replies, reply{text: "done"})
				}
			}
			m.replies = append(m.replies, reply{text: "done"})
			outer := node(t, "Agent", `{"repeated_calls": 1, "max_rounds": 30, "tools": [`+c.tools+`]}`, "")
			s := run(t, outer, nil, "q", engine.Null, engine.Ports{Model: m})
			require.NoError(t, s.err)
			ran := 0
			for _, e := range s.trace {
				if e.Get("tool_name").Str() == "echo_tool_0" {
					ran++
				}
			}
			require.Equal(t, 10, ran)
			refused := 0
			for _, asked := range m.asked {
				last := asked.Messages[len(asked.Messages)-1].Content
				if strings.Contains(last, "repeated tool call: echo_tool_0 was called 10 times") {
					refused++
				}
			}
			require.Equal(t, 5, refused)
		})
	}
}

// stuck is a tool that ignores its context until the test ends.
type stuck struct {
	engine.Common
	end chan struct{}
}

func (s *stuck) Run(context.Context, *engine.Call) error { <-s.end; return nil }

func TestSlowToolIsAbandoned(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	reg, err := engine.NewRegistry(append(Builtin(), engine.Spec{
		Name: "Stuck", Doc: "never answers", New: func() engine.Component { return &stuck{end: end} },
		Tool: &engine.ToolSpec{Function: "stuck", Result: "result"},
	})...)
	require.NoError(t, err)
	c, err := engine.Load(reg, sketch.Bytes(
		"begin Begin -> X",
		`X Agent {"tool_seconds": 1, "tools": [{"component_name": "Stuck", "params": {}}]}`,
	))
	require.NoError(t, err)
	m := insist(1, "stuck_0 a")
	found, err := events(t, c, engine.Options{Ports: engine.Ports{Model: m}})
	require.NoError(t, err)
	require.Contains(t, m.asked[1].Messages[2].Content, "tool took too many seconds")
	require.Equal(t, "tool_too_slow", found[engine.EventLimitReached][0].Get("code").Str())
}

func TestTakeoverCountsWhatWasUsedBefore(t *testing.T) {
	c := wide(t, 1, "null")
	opt := engine.Options{
		Seed: 1, Checkpoints: true, Limits: engine.Limits{ModelCalls: 1}, Ports: engine.Ports{Model: &priced{}},
	}
	st, err := c.StateAt(cutBeforeResult(t, c, opt), 0)
	require.NoError(t, err)
	m := &priced{}
	opt.Ports.Model = m
	var failed error
	for _, err := range c.Continue(t.Context(), st, opt) {
		failed = err
	}
	require.ErrorIs(t, failed, engine.ErrTooManyModelCalls)
	require.Zero(t, m.calls)
}

// cutBeforeResult returns the log of a run whose host died after its first model call, before it
// had written the result of the node. Usually the usage is written first; it tries again until it
// is.
func cutBeforeResult(t *testing.T, c *engine.Canvas, opt engine.Options) []*engine.Event {
	for range 100 {
		var log []*engine.Event
		written := false
		for e, err := range c.Run(t.Context(), c.State(), engine.Input{}, opt) {
			require.NoError(t, err)
			log = append(log, e.Clone())
			written = written || e.Type == engine.EventResult
			if e.Type == engine.EventUsage {
				break
			}
		}
		if !written {
			return log
		}
	}
	t.Fatal("the result was written before the usage in each of 100 runs")
	return nil
}
