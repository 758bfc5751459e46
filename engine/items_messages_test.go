package engine_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// later takes five seconds for element 0 and one less for each one after it.
var later = modelFunc(func(ctx context.Context, req *engine.ModelRequest, yield func(engine.ModelPiece, error) bool) {
	i, _ := strconv.Atoi(req.System[strings.LastIndex(req.System, " ")+1:])
	select {
	case <-time.After(time.Duration(5-i) * time.Second):
		yield(engine.ModelPiece{Text: "ok"}, nil)
	case <-ctx.Done():
		yield(engine.ModelPiece{}, ctx.Err())
	}
})

// approved returns an Iteration over n elements whose body shows a draft, requests approval for the
// elements that a condition selects, such as < 2, and sends a message with the result.
func approved(n int, operator, value string) string {
	return iteration(n, fmt.Sprintf(`"concurrency": %d`, n),
		inBody("Iteration:I", asks("LLM:L", 1, "{IterationItem:X@item}", "Message:M")),
		inBody("Iteration:I", message("Message:M", "draft {IterationItem:X@item};", "Switch:S")),
		inBody("Iteration:I", cell("Switch:S", "Switch", fmt.Sprintf(`"conditions": [
			{"logical_operator": "and", "to": ["UserFillUp:F"],
			"items": [{"cpn_id": "IterationItem:X@item", "operator": %q, "value": %q}]}],
			"end_cpn_ids": ["Message:T"]`, operator, value))),
		inBody("Iteration:I", cell("UserFillUp:F", "UserFillUp",
			`"enable_tips": true, "tips": "{IterationItem:X@item}", "inputs": {"f": {"name": "f", "type": "line"}}`,
			"Message:T")),
		inBody("Iteration:I", message("Message:T", "sent {IterationItem:X@item};")))
}

// turns runs a canvas and answers its forms; it returns what was said in each turn, with the
// question at the end.
func turns(t *testing.T, dsl string, opt engine.Options) []string {
	t.Helper()
	canvas, err := engine.Load(builtins(t), []byte(dsl))
	require.NoError(t, err)
	state := canvas.State()
	var said []string
	for in := (engine.Input{Query: engine.String("q")}); ; in = (engine.Input{Inputs: engine.Object("f", "yes")}) {
		text := ""
		for e, err := range canvas.Run(t.Context(), state, in, opt) {
			require.NoError(t, err)
			switch e.Type {
			case engine.EventMessage:
				text += e.Facts.Message.Text
			case engine.EventUserInputs:
				text += e.Data().Get("tips").Str() + "?"
			}
		}
		opt.AsCompleted = false // the choice of the first run counts
		if said = append(said, text); !state.Paused() {
			return said
		}
		require.Less(t, len(said), 10)
		canvas, err = engine.Load(builtins(t), canvas.Save(state))
		require.NoError(t, err)
		state = canvas.State()
	}
}

// TestMessagesOfBodiesThatAsk has bodies that say something before and after a form: what an
// element has said comes before its question, and nothing is lost while another one is asked.
func TestMessagesOfBodiesThatAsk(t *testing.T) {
	for _, c := range []struct {
		operator, value string
		completed       bool
		want            []string
	}{
		{"≥", "0", false, []string{"draft 0;0?", "sent 0;draft 1;1?", "sent 1;draft 2;2?", "sent 2;"}},
		{"≥", "0", true, []string{"draft 0;0?", "sent 0;draft 1;1?", "sent 1;draft 2;2?", "sent 2;"}},
		{"=", "0", false, []string{"draft 0;0?", "sent 0;draft 1;sent 1;draft 2;sent 2;"}},
		{"=", "0", true, []string{"draft 2;sent 2;draft 1;sent 1;draft 0;0?", "sent 0;"}},
		{"=", "1", false, []string{"draft 0;sent 0;draft 1;1?", "sent 1;draft 2;sent 2;"}},
		{"=", "1", true, []string{"draft 2;sent 2;draft 0;sent 0;draft 1;1?", "sent 1;"}},
		{"<", "2", true, []string{"draft 2;sent 2;draft 0;0?", "sent 0;draft 1;1?", "sent 1;"}},
	} {
		for _, mode := range []engine.Scheduling{engine.Batch, engine.Eager} {
			synctest.Test(t, func(t *testing.T) {
				opt := engine.Options{Scheduling: mode, AsCompleted: c.completed, Ports: engine.Ports{Model: later}}
				require.Equal(t, c.want, turns(t, approved(3, c.operator, c.value), opt), "%+v %s", c, mode)
			})
		}
	}
}
