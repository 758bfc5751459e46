package engine_test

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// callingModel is a slowModel that calls each tool it is offered once.
type callingModel struct{ slowModel }

func (m *callingModel) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	if len(req.Tools) == 0 || req.Messages[len(req.Messages)-1].Role == "tool" {
		return m.slowModel.Generate(ctx, req)
	}
	return func(yield func(engine.ModelPiece, error) bool) {
		var calls []engine.ToolCall
		for i, tool := range req.Tools {
			arguments := `{"user_prompt": "go", "reasoning": "r", "context": "c"}`
			calls = append(calls, engine.ToolCall{ID: strconv.Itoa(i), Name: tool.Name, Arguments: arguments})
		}
		yield(engine.ModelPiece{ToolCalls: calls}, nil)
	}
}

func (m *callingModel) ModelInfo(context.Context, string) engine.Info {
	return engine.Info{Tools: true, Context: 100_000}
}

// subAgent returns an agent as a tool, which has tools itself.
func subAgent(name string, seconds int, tools ...string) string {
	return fmt.Sprintf(`{"component_name": "Agent", "name": %q, "params": {"llm_id": "m", "sys_prompt": "wait %d ",
		"tool_mode": "native", "max_rounds": 1, "tools": [%s]}}`, name, seconds, strings.Join(tools, ", "))
}

// TestToolsShareTheSlotsOfNodes bounds an agent, its sub-agents and theirs together with the nodes
// parallel to the agent. An agent that waits for its tools has no slot.
func TestToolsShareTheSlotsOfNodes(t *testing.T) {
	var inner, outer []string
	for i := range 3 {
		inner = append(inner, subAgent(fmt.Sprintf("inner %d", i), 1))
	}
	for i := range 2 {
		outer = append(outer, subAgent(fmt.Sprintf("outer %d", i), 1, inner...))
	}
	agent := cell("Agent:A", "Agent", fmt.Sprintf(`"llm_id": "m", "sys_prompt": "wait 1 ", "tool_mode": "native",
		"max_rounds": 1, "tools": [%s]`, strings.Join(outer, ", ")), "Message:M")
	const calls = 6 + 2 + 1 // of the inner agents, of the outer ones, and of the agent
	for _, shape := range []struct{ name, dsl string }{
		{"alone", sketch.Canvas(start("Agent:A"), agent, message("Message:M", "said"))},
		{"streamed", sketch.Canvas(start("Agent:A"), agent, message("Message:M", "{Agent:A@content}"))},
		{
			"beside a node",
			sketch.Canvas(start("Agent:A", "LLM:L"), agent, message("Message:M", "said"), asks("LLM:L", 2, "")),
		},
	} {
		for _, mode := range []engine.Scheduling{engine.Batch, engine.Eager} {
			for _, slots := range []int{1, 2, 20} {
				t.Run(fmt.Sprintf("%s, %s, %d slots", shape.name, mode, slots), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						m := &callingModel{}
						opt := engine.Options{Scheduling: mode, Concurrency: slots, Ports: engine.Ports{Model: m}}
						events, _, err := eagerRun(t, shape.dsl, opt)
						require.NoError(t, err)
						require.LessOrEqual(t, m.max, slots)
						made := 0
						for node, n := range m.calls {
							if node != "LLM:L" {
								made += n
							}
						}
						require.Equal(t, calls, made)
						if slots == 20 && mode == engine.Eager {
							require.LessOrEqual(t, events[len(events)-1].at, 3.06, "three levels of agents")
						}
					})
				})
			}
		}
	}
}

// TestWaitForSlotIsLogged runs two calls of a model one after the other on one slot: the second one
// waits for as long as the first one takes, in its own name.
func TestWaitForSlotIsLogged(t *testing.T) {
	dsl := sketch.Canvas(start("LLM:A", "LLM:B"), asks("LLM:A", 2, ""), asks("LLM:B", 1, ""))
	streamed := sketch.Canvas(
		start("LLM:A", "LLM:B"), asks("LLM:A", 2, "", "Message:M"), asks("LLM:B", 1, "", "Message:M"),
		message("Message:M", "{LLM:A@content} {LLM:B@content}"))
	for _, c := range []struct {
		name, dsl string
		mode      engine.Scheduling
	}{
		{"batch", dsl, engine.Batch}, {"eager", dsl, engine.Eager}, {"texts written early", streamed, engine.Eager},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opt := engine.Options{
					Scheduling: c.mode, Concurrency: 1, Internal: true, Ports: engine.Ports{Model: &slowModel{}},
				}
				events, _, err := eagerRun(t, c.dsl, opt)
				require.NoError(t, err)
				var waits []string
				started := map[string]bool{}
				for _, e := range events {
					data := e.event.Data()
					switch node := data.Get("component_id").Str(); e.event.Type {
					case engine.EventNodeStarted:
						started[node] = true
					case engine.EventQueued:
						require.True(t, started[node], "the wait of %s is logged before its start", node)
						took, _ := data.Get("elapsed_time").Float()
						waits = append(waits, fmt.Sprint(node, " ", data.Get("queue").Str(), " ", took))
					}
				}
				require.Equal(t, []string{"LLM:B run 2"}, waits)
			})
		})
	}
}
