package component

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
)

// AgentLimits limit one execution of an agent, its tools and sub-agents included. Zero means only
// the limits of the canvas and of the run.
type AgentLimits struct {
	LimitModelCalls int     `json:"limit_model_calls" doc:"model calls of one execution, sub-agents included; 0 leaves it to the run" min:"0" label:"Model calls" group:"limits"`
	LimitTokens     int     `json:"limit_tokens" doc:"tokens of one execution, input and output; the answer that reaches the limit is the last; 0 leaves it to the run" min:"0" label:"Tokens" group:"limits"`
	LimitCost       float64 `json:"limit_cost" doc:"money that one execution may cost, by the price table; 0 leaves it to the run" min:"0" label:"Cost" group:"limits"`
	LimitToolCalls  int     `json:"limit_tool_calls" doc:"tool calls of one execution; 0 leaves it to the run" min:"0" label:"Tool calls" group:"limits"`
	LimitSeconds    int     `json:"limit_seconds" doc:"seconds that one execution may take; 0 leaves it to the run" min:"0" label:"Seconds" group:"limits"`
	RepeatedCalls   int     `json:"repeated_calls" doc:"how often a tool may be called with the same arguments; further calls are refused, and as many of them end the agent; 0 means 10" min:"0" label:"Repeated calls" group:"limits"`
	ToolSeconds     int     `json:"tool_seconds" doc:"seconds that a tool call may take; the model learns when a tool is slower; 0 leaves it to the run" min:"0" label:"Seconds per tool call" group:"limits"`
}

func (l *AgentLimits) limits() engine.Limits {
	return engine.Limits{
		ModelCalls: int64(l.LimitModelCalls), Tokens: int64(l.LimitTokens), Cost: engine.MicrosOf(l.LimitCost),
		ToolCalls: int64(l.LimitToolCalls), Seconds: int64(l.LimitSeconds), RepeatedCalls: int64(l.RepeatedCalls),
		ToolSeconds: int64(l.ToolSeconds),
	}
}

// begin returns nil if a further round of tool calls is allowed.
func (t *task) begin() error {
	if err := t.call.Canceled(); err != nil {
		return err
	}
	return t.call.AllowRound()
}

// allow counts a call. A call that was repeated too often is refused, which is reported to the
// model; an error ends the agent.
func (t *task) allow(c *toolCall) error {
	if c.bad != nil || t.tools.find(c.name) == nil {
		return nil
	}
	err := t.call.AllowTool(c.name, c.args)
	if errors.Is(err, engine.ErrRepeatedCall) {
		c.bad, err = err, nil
	}
	return err
}

// callWithin makes one call, after approval if required.
func (t *task) callWithin(ctx context.Context, c toolCall) (engine.ToolAnswer, error) {
	ask := &engine.Ask{Tool: c.name, Arguments: c.args}
	if tool := t.tools.find(c.name); tool != nil {
		ask.Schema = tool.def.Parameters
		ask.Approval = tool.approval || t.call.ToolNeedsApproval(tool.bound, c.name, tool.remote)
	}
	if c.bad != nil {
		return engine.ToolAnswer{}, c.bad
	}
	return t.call.Perform(ctx, ask, func(ctx context.Context, args engine.Value) (engine.ToolAnswer, error) {
		c.args = args
		return t.callInTime(ctx, c)
	})
}

// callInTime makes one call within the time limit of a tool. A tool that ignores its context is
// abandoned.
func (t *task) callInTime(ctx context.Context, c toolCall) (engine.ToolAnswer, error) {
	limit := t.call.ToolTime()
	if limit == 0 {
		return t.callOne(ctx, c)
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type answer struct {
		engine.ToolAnswer
		err error
	}
	came := make(chan answer, 1)
	go func() {
		result, err := t.callOne(within, c)
		came <- answer{result, err}
	}()
	select {
	case a := <-came:
		if a.err == nil || ctx.Err() != nil || !errors.Is(within.Err(), context.DeadlineExceeded) {
			return a.ToolAnswer, a.err
		}
	case <-within.Done():
		if ctx.Err() != nil {
			return engine.ToolAnswer{}, ctx.Err()
		}
	}
	return engine.ToolAnswer{}, t.call.ToolTooSlow(c.name)
}
