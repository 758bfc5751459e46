package component

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
)

// AgentLimits limit one execution of an agent, its tools and sub-agents included. Zero means only
// the limits of the canvas and of the run.
type AgentLimits struct {
	LimitModelCalls int     `json:"limit_model_calls" label:"Model calls at most" doc:"of one execution, with its sub-agents" section:"advanced" zero:"no limit" min:"0"`
	LimitTokens     int     `json:"limit_tokens" label:"Tokens at most" doc:"of one execution, questions and answers" section:"advanced" unit:"tokens" zero:"no limit" min:"0"`
	LimitCost       float64 `json:"limit_cost" label:"Cost at most" doc:"of one execution, by the prices of the models" section:"advanced" zero:"no limit" min:"0"`
	LimitToolCalls  int     `json:"limit_tool_calls" label:"Tool calls at most" doc:"of one execution" section:"advanced" zero:"no limit" min:"0"`
	LimitSeconds    int     `json:"limit_seconds" label:"Time at most" doc:"of one execution" section:"advanced" widget:"duration" zero:"no limit" min:"0"`
	RepeatedCalls   int     `json:"repeated_calls" label:"Same call at most" doc:"later calls with equal arguments are refused; as many of them end the agent" section:"advanced" unit:"times" zero:"10" min:"0"`
	ToolSeconds     int     `json:"tool_seconds" label:"Time per tool call" doc:"the model learns when a tool is slower" section:"advanced" widget:"duration" zero:"no limit" min:"0"`
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
