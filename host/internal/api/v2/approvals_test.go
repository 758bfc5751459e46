package v2_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

var approved = sketch.Canvas(
	"begin Begin -> StringTransform:S",
	`StringTransform:S StringTransform {
		"approval": true, "method": "merge", "script": "merged {sys.query}"} -> Message:M`,
	`Message:M Message {"content": ["{StringTransform:S@result}"]}`,
)

func TestApprove(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", approved)
	asking := func() string {
		path := "/api/v2/canvases/" + id + "/runs"
		a := s.Request("POST", path, "one", `{"query":"hello"}`, "Accept", "text/event-stream")
		require.Contains(t, a.Text, "event: user_inputs")
		return "/api/v2/runs/" + a.Header.Get("X-Easel-Run") + "/approve"
	}
	path := asking()
	for body, want := range map[string]string{
		`{}`: "expected a list of {id, decision, arguments}", `{"approvals":[{"decision":"yes"}]}`: "id is missing",
		`{"approvals":[{"id":"x","decision":"maybe"}]}`:               "expected yes or no",
		`{"approvals":[{"id":"x","decision":"yes","arguments":"y"}]}`: "expected an object",
	} {
		refused := s.Post(path, body)
		require.Equal(t, 422, refused.Status, refused.Text)
		require.Contains(t, refused.Text, want)
	}
	const id1 = `"id":"approval:StringTransform:S"`
	for answer, want := range map[string]string{
		id1 + `,"decision":"yes"`:                                 "merged hello",
		id1 + `,"decision":"yes","arguments":{"sys.query":"bye"}`: "merged bye",
		id1 + `,"decision":"yes","arguments":{"sys.query":7}`:     "arguments.sys.query: is a number",
		id1 + `,"decision":"no"`:                                  engine.CodeRejected,
		`"id":"other","decision":"yes"`:                           "user_inputs",
	} {
		body := `{"approvals":[{` + answer + `}]}`
		done := s.Request("POST", asking(), "one", body, "Accept", "text/event-stream")
		require.Contains(t, done.Text, want, body)
	}
	none := s.Post("/api/v2/runs/"+apitest.Nowhere+"/approve", `{"approvals":[{"id":"x","decision":"no"}]}`)
	require.Equal(t, 404, none.Status)
}
