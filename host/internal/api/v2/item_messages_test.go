package v2_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// waiting is an Iteration over three elements at once, of which the first one waits.
func waiting() string {
	doc, err := engine.ParseJSON(sketch.Bytes(
		"begin Begin -> Iteration:I",
		`Iteration:I Iteration {"items_ref":"env.items","concurrency":3,"outputs":{}}`,
		"IterationItem:X IterationItem -> Switch:S ^ Iteration:I",
		`Switch:S Switch {"conditions":[{"logical_operator":"and","to":["Wait:W"],
			"items":[{"cpn_id":"IterationItem:X@item","operator":"=","value":"0"}]}],
			"end_cpn_ids":["Message:M"]} ^ Iteration:I`,
		"Wait:W Wait -> Message:M ^ Iteration:I",
		`Message:M Message {"content":["{IterationItem:X@item};"]} ^ Iteration:I`,
	))
	if err != nil {
		panic(err)
	}
	list := engine.List(engine.Int(0), engine.Int(1), engine.Int(2))
	return doc.With("globals", doc.Get("globals").With("env.items", list)).JSON()
}

// TestItemMessages starts a run with each order of messages. The element that waits is released
// when the others are done: their messages come before with as_completed only.
func TestItemMessages(t *testing.T) {
	s := apitest.New(t)
	canvas := "/api/v2/canvases/" + s.Canvas("waiting", waiting()) + "/runs"
	for order, c := range map[string]struct {
		before int // events while an element waits: 21 without messages
		said   []string
	}{
		"":             {21, []string{"0;1;2;"}},
		"in_order":     {21, []string{"0;1;2;"}},
		"as_completed": {27, []string{"1;2;0;", "2;1;0;"}},
	} {
		events := "/api/v2/runs/" + s.Post(canvas, `{"item_messages":"`+order+`"}`).Body.Get("id").Str() + "/events"
		s.Watch(events, "", c.before)
		s.Gate <- struct{}{}
		said := ""
		for _, e := range s.Watch(events, "", 0) {
			if e.Kind == string(engine.EventMessage) {
				v, err := engine.ParseJSON([]byte(e.Data))
				require.NoError(t, err)
				said += v.Get("data").Get("content").Str()
			}
		}
		require.Contains(t, c.said, said, "item_messages %q", order)
	}
	refused := s.Post(canvas, `{"item_messages":"mixed"}`)
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
	require.Contains(t, refused.Text, "item_messages must be in_order or as_completed")
}
