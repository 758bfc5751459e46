package ragflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// approved is a canvas whose middle node needs an approval, in the settings given.
func approved(settings string) string {
	return sketch.Canvas(
		"@settings "+settings,
		"begin Begin -> StringTransform:S",
		`StringTransform:S StringTransform {"approval":true,"method":"merge","script":"merged {sys.query}",
			"delimiters":[","]} -> Message:A`,
		`Message:A Message {"content":["{StringTransform:S@result}"]}`,
	)
}

const visitorAgrees = `"inputs":{"approval:StringTransform:S":{"value":"yes"}}`

// formAsked is the form that a stream ended with, and the id of its session.
func formAsked(t *testing.T, a apitest.Answer) (form engine.Value, session string) {
	t.Helper()
	list, _ := a.Events()
	for _, e := range list {
		if e.Get("event").Str() == "user_inputs" {
			return e.Get("data"), e.Get("session_id").Str()
		}
	}
	require.Fail(t, "no form", a.Text)
	return engine.Null, ""
}

func TestVisitorsDoNotApprove(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", approved(`{}`))
	beta, err := s.Store.Betas.For(t.Context(), "one", id)
	require.NoError(t, err)
	path := "/api/v1/agentbots/" + id + "/completions"
	asked := s.Request("POST", path, beta.Text, `{"query":"PRIVATE"}`)
	form, session := formAsked(t, asked)
	require.Equal(t, "{}", form.Get("inputs").JSON())
	require.Contains(t, form.Get("tips").Str(), "approval of the owner")
	require.NotContains(t, asked.Text, "PRIVATE", "the arguments are not for visitors")

	again := s.Request("POST", path, beta.Text, `{"session_id":"`+session+`",`+visitorAgrees+`}`)
	require.NotContains(t, again.Text, "merged", "the answer of a visitor does not count")
	formAsked(t, again)

	runs, _, err := s.Store.Runs.List(t.Context(), store.RunFilter{Tenant: "one", Canvas: id, Status: store.RunPaused},
		store.Page{})
	require.NoError(t, err)
	done := s.Request("POST", "/api/v2/runs/"+runs[0].ID+"/approve", "one",
		`{"approvals":[{"id":"approval:StringTransform:S","decision":"yes"}]}`, "Accept", "text/event-stream")
	require.Contains(t, done.Text, "merged PRIVATE", "a key of the tenant approves")
}

func TestVisitorsApproveIfTheCanvasAllowsIt(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", approved(`{"visitors_approve":true}`))
	beta, err := s.Store.Betas.For(t.Context(), "one", id)
	require.NoError(t, err)
	path := "/api/v1/agentbots/" + id + "/completions"
	form, session := formAsked(t, s.Request("POST", path, beta.Text, `{"query":"hello"}`))
	require.False(t, form.Get("inputs").Get("approval:StringTransform:S").IsNull())
	done := s.Request("POST", path, beta.Text, `{"session_id":"`+session+`",`+visitorAgrees+`}`)
	require.Contains(t, done.Text, "merged hello")
}
