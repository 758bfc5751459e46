package component

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// plan works in prompt mode: the model plans in lists of calls until it reports that the task is
// complete or the rounds are used up; then it writes the answer.
func (t *task) plan(ctx context.Context) (string, error) {
	request, err := t.fullRequest(ctx)
	if err != nil {
		return "", err
	}
	work := agentTask(t.system, request, t.overrides)
	t.call.TraceStep("analyze_task", engine.Object(), engine.String(work))
	system := planning(t.overrides.Get("plan_generation").Str(), work, t.tools.defs(), t.call.Now())
	for n := range t.agent.MaxRounds + 1 {
		if err := t.begin(); err != nil {
			return "", err
		}
		complete, err := t.round(ctx, system)
		if errors.Is(err, errRoundFailed) {
			warn(t.call, "planning", fmt.Errorf("round %d of %d is left out: %w", n+1, t.agent.MaxRounds+1, err))
			continue
		}
		if err != nil {
			return "", err
		}
		if complete {
			t.add("user", answerNow)
			return t.finish(ctx)
		}
	}
	t.add("user", answerAnyway(t.request))
	return t.finish(ctx)
}

// errRoundFailed means that the model returned no plan; the next round requests it again.
var errRoundFailed = errors.New("the model gave no plan")

// round makes one planning call and calls the tools it names. An answer that is not a list uses up
// the round.
func (t *task) round(ctx context.Context, system string) (complete bool, err error) {
	answer, err := t.call.Generate(ctx, &engine.ModelRequest{
		LLM: t.agent.LLMID, Purpose: engine.PurposePlan, System: system, Messages: t.planMessages(),
		Config: engine.ModelConfig{Stop: []string{stopMark}},
		Tools:  t.tools.defs(), Query: t.request, Chunks: t.call.Chunks(),
	}, nil)
	if err != nil {
		if endsNode(err) || ctx.Err() != nil || errors.Is(err, engine.ErrNoPort) {
			return false, err
		}
		return false, fmt.Errorf("%w: %w", errRoundFailed, err)
	}
	text := afterReasoning(answer.Text)
	t.add("assistant", text)
	calls, err := readPlan(text)
	if err != nil {
		t.add("user", planProblem(err.Error()))
		return false, nil
	}
	if len(calls) == 0 {
		t.add("user", noCalls)
		return false, nil
	}
	work := slices.DeleteFunc(calls, func(c toolCall) bool { return c.name == engine.PlanDone })
	if len(work) == 0 {
		return true, nil
	}
	answers, err := t.run(ctx, work)
	if err != nil {
		return false, err
	}
	seen := observation(work, answers)
	t.call.TraceStep("reflection", engine.Object(), engine.String(seen))
	t.add("user", seen)
	t.show(t.pictures(ctx, answers))
	return len(work) < len(calls), nil
}

// planMessages returns the messages followed by the question for the next tool.
func (t *task) planMessages() []engine.ModelMessage {
	list := slices.Clone(t.messages)
	if n := len(list); n > 0 && list[n-1].Role == "user" {
		list[n-1].Content += "\n" + nextTool
		return list
	}
	return append(list, engine.ModelMessage{Role: "user", Content: nextTool})
}

// observation reports the results of its calls to the model.
func observation(calls []toolCall, answers []engine.ToolAnswer) string {
	var b strings.Builder
	b.WriteString(engine.PlanObservation)
	for i, c := range calls {
		b.WriteString("\n[" + c.name + " result]\n" + answers[i].Result.Text())
	}
	return b.String()
}

// readPlan reads a list of calls. An invalid call keeps its position and holds the error.
func readPlan(text string) ([]toolCall, error) {
	v, err := readLooseJSON(text)
	if err != nil {
		return nil, err
	}
	if v.Kind() != engine.KindList {
		return nil, fmt.Errorf("it is a single %s, not a list", v.Kind())
	}
	calls := make([]toolCall, 0, v.Len())
	for i, e := range v.Elements() {
		name := e.Get("name")
		switch {
		case e.Kind() != engine.KindObject:
			return nil, fmt.Errorf("entry %d is a %s, not an object", i+1, e.Kind())
		case name.Kind() != engine.KindString || name.Str() == "":
			return nil, fmt.Errorf(`entry %d has no "name"`, i+1)
		}
		c := toolCall{name: name.Str()}
		args, given := e.Lookup("arguments")
		switch {
		case c.name == engine.PlanDone:
		case !given:
			return nil, fmt.Errorf(`the call of %s has no "arguments"`, c.name)
		default:
			c.args, c.bad = readArguments(args)
		}
		calls = append(calls, c)
	}
	return calls, nil
}
