package ragflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api/apitest"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
)

// What an editor saves has nodes, even when it is new.
const (
	newAgent    = `{"components":{"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":[],"upstream":[]}},"graph":{"nodes":[{"id":"begin"}],"edges":[]},"history":[],"path":[],"retrieval":[],"variables":[],"globals":{}}`
	newPipeline = `{"components":{"File":{"obj":{"component_name":"File","params":{}},"downstream":[],"upstream":[]}},"graph":{"nodes":[{"id":"File"}],"edges":[]}}`
	drawing     = `{"components":{},"graph":{"nodes":[{"id":"begin"}],"edges":[]}}`
)

func TestCanvasesWithoutComponentsAreNotSaved(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	for _, dsl := range []string{`{}`, `"{}"`, `{"components":{}}`, `{"components":[]}`, `{"components":"x"}`, `{"components":[1]}`, `{"graph":{}}`, `{"components":{},"graph":{"nodes":[],"edges":[]}}`, `{"history":[]}`} {
		for _, dialect := range []string{"", "/0.27"} {
			for _, a := range []apitest.Answer{
				s.Post(dialect+"/v1/canvas/set", `{"title":"t","dsl":`+dsl+`}`),
				s.Post(dialect+"/v1/canvas/set", `{"id":"`+id+`","title":"a","dsl":`+dsl+`}`),
				s.Post(dialect+"/api/v1/agents", `{"title":"t","dsl":`+dsl+`}`),
				s.Put(dialect+"/api/v1/agents/"+id, `{"dsl":`+dsl+`}`),
			} {
				require.Equal(t, 101, a.Code(), "%s: %s", dsl, a.Text)
				require.Contains(t, a.Message(), `dsl has no components: a canvas needs at least the node "begin"`)
			}
		}
		for _, a := range []apitest.Answer{
			s.Post("/api/v2/canvases", `{"title":"t","dsl":`+dsl+`}`), s.Put("/api/v2/canvases/"+id, `{"dsl":`+dsl+`}`),
		} {
			require.Equal(t, 422, a.Status, "%s: %s", dsl, a.Text)
			require.Contains(t, a.Body.Get("error").Get("message").Str(), "dsl has no components")
		}
		validated := s.Post("/api/v2/canvases/"+id+"/validate", `{"dsl":`+dsl+`}`)
		require.Equal(t, 200, validated.Status)
		require.NotZero(t, validated.Body.Get("diagnostics").Len(), "%s: %s", dsl, validated.Text)
	}
	require.Contains(t, s.Get("/api/v2/canvases/"+id).Text, "You said", "it is as it was")
	for title, dsl := range map[string]string{"new agent": newAgent, "new pipeline": newPipeline, "a drawing": drawing} {
		s.Good(s.Post("/v1/canvas/set", `{"title":"`+title+`","dsl":`+dsl+`}`))
		s.Good(s.Post("/0.27/api/v1/agents", `{"title":"`+title+`!","dsl":`+dsl+`}`))
	}
}

// A canvas that was saved before, or is a drawing only, says in every dialect why it does not run.
func TestCanvasesWithoutComponentsDoNotRun(t *testing.T) {
	s := apitest.New(t)
	for _, dsl := range []string{`{}`, `{"components":{}}`, drawing} {
		v, err := s.Store.Canvases.Create(
			t.Context(),
			store.Canvas{Tenant: "one", User: "one", Title: dsl, DSL: []byte(dsl), Category: app.AgentCategory}, "",
		)
		require.NoError(t, err)
		for path, body := range map[string]string{
			"/v1/canvas/completion":                               `{"id":"` + v.ID + `","query":"x"}`,
			"/api/v1/agents/" + v.ID + "/completions":             `{"question":"x"}`,
			"/api/v1/agents/" + v.ID + "/sessions":                `{}`,
			"/0.27/api/v1/agents/chat/completions":                `{"agent_id":"` + v.ID + `","query":"x","stream":true}`,
			"/api/v1/agents_openai/" + v.ID + "/chat/completions": `{"model":"m","messages":[{"role":"user","content":"x"}]}`,
			"/api/v2/canvases/" + v.ID + "/runs":                  `{"query":"x"}`,
			"/api/v2/canvases/" + v.ID + "/sessions":              `{}`,
		} {
			a := s.Post(path, body)
			require.NotContains(t, a.Header.Get("Content-Type"), "event-stream", path)
			require.NotEqual(t, 0, a.Code(), "%s: %s", path, a.Text)
			require.Regexp(t, `no .{0,2}components?.{0,2} `, a.Text, path)
		}
	}
}
