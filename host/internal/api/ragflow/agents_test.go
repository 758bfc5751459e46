package ragflow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// What an editor saves has nodes, even when it is new.
const (
	newAgent    = `{"components":{"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":[],"upstream":[]}},"graph":{"nodes":[{"id":"begin"}],"edges":[]},"history":[],"path":[],"retrieval":[],"variables":[],"globals":{}}`
	newPipeline = `{"components":{"File":{"obj":{"component_name":"File","params":{}},"downstream":[],"upstream":[]}},"graph":{"nodes":[{"id":"File"}],"edges":[]}}`
	drawing     = `{"components":{},"graph":{"nodes":[{"id":"begin"}],"edges":[]}}`
	exported    = `{"x":1,"graph":{"nodes":[
		{"id":"begin","data":{"label":"Begin","name":"begin","form":{"prologue":"Welcome"}}},
		{"id":"Message:A","data":{"label":"Message","name":"Answer","form":{"content":["You said {sys.query}"]}}}],
		"edges":[{"source":"begin","sourceHandle":"start","target":"Message:A","targetHandle":"end"}]},
		"globals":{"sys.query":""},"variables":{}}`
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
				require.Contains(t, a.Message(), `a graph with nodes: a canvas needs at least the node "begin"`)
			}
		}
		for _, a := range []apitest.Answer{
			s.Post("/api/v2/canvases", `{"title":"t","dsl":`+dsl+`}`), s.Put("/api/v2/canvases/"+id, `{"dsl":`+dsl+`}`),
		} {
			require.Equal(t, 422, a.Status, "%s: %s", dsl, a.Text)
			require.Contains(t, a.Body.Get("error").Get("message").Str(), "dsl has neither components nor a graph")
		}
		validated := s.Post("/api/v2/canvases/"+id+"/validate", `{"dsl":`+dsl+`}`)
		require.Equal(t, 200, validated.Status)
		require.NotZero(t, validated.Body.Get("diagnostics").Len(), "%s: %s", dsl, validated.Text)
	}
	require.Contains(t, s.Get("/api/v2/canvases/"+id).Text, "You said", "it is as it was")
	saved := map[string]string{"new agent": newAgent, "new pipeline": newPipeline, "an export": exported}
	for title, dsl := range saved {
		s.Good(s.Post("/v1/canvas/set", `{"title":"`+title+`","dsl":`+dsl+`}`))
		s.Good(s.Post("/0.27/api/v1/agents", `{"title":"`+title+`!","dsl":`+dsl+`}`))
		s.Good(s.Post("/api/v1/agents", `{"title":"`+title+`?","dsl":`+dsl+`}`))
	}
}

// A file of RAGFlow's export button is stored as it is, and answers in every dialect.
func TestExportsOfTheEditor(t *testing.T) {
	s := apitest.New(t)
	for name, dsl := range map[string]string{
		"graph": exported,
		"nodes": parsed(t, exported).Get("graph").With("x", engine.Int(1)).JSON(),
	} {
		s.Good(s.Post("/api/v1/agents", `{"title":"`+name+`","dsl":`+dsl+`}`))
		list := s.Good(s.Get("/api/v1/agents?title=" + name)).Data()
		id := list.At(0).Get("id").Str()
		require.JSONEq(t, dsl, list.At(0).Get("dsl").JSON(), "as it was sent")
		for path, body := range map[string]string{
			"/v1/canvas/completion":                             `{"id":"` + id + `","query":"x"}`,
			"/api/v1/agents/" + id + "/completions":             `{"question":"x"}`,
			"/0.27/api/v1/agents/chat/completions":              `{"agent_id":"` + id + `","query":"x","stream":true}`,
			"/api/v1/agents_openai/" + id + "/chat/completions": `{"model":"m","messages":[{"role":"user","content":"x"}]}`,
		} {
			require.Regexp(t, `You said (x|.*"x")`, strings.ReplaceAll(s.Post(path, body).Text, "\n", " "), path)
		}
		beta, err := s.Store.Betas.For(t.Context(), "one", id)
		require.NoError(t, err)
		inputs := s.Good(s.Request("GET", "/api/v1/agentbots/"+id+"/inputs", beta.Text, ""))
		require.Equal(t, "Welcome", inputs.Data().Get("prologue").Str())
		bare := s.Good(s.Request("GET", "/v1/canvas/getsse/"+id, beta.Text, "")).Text
		require.Contains(t, bare, "Welcome")
		require.NotContains(t, bare, "You said")
	}
	id := s.Good(s.Get("/api/v1/agents?title=nodes")).Data().At(0).Get("id").Str()
	whole := s.As("one", "GET", "/api/v2/canvases/"+id, "", 200).Get("dsl")
	require.Equal(t, "Begin", whole.Get("components").Get("begin").Get("obj").Get("component_name").Str())
	require.Equal(t, "1", whole.Get("x").JSON())
}

// A client of the API learns at once that a canvas cannot run; an editor saves it.
func TestCanvasesThatDoNotLoadAreNotCreated(t *testing.T) {
	s := apitest.New(t)
	for dsl, problem := range map[string]string{
		strings.Replace(exported, `"label":"Message"`, `"label":"Mesage"`, 1):              "did you mean Message?",
		strings.Replace(exported, `"id":"Message:A"`, `"id":"begin"`, 1):                   "is the id of two nodes",
		strings.Replace(newAgent, `"begin":{`, `"start":{`, 1):                             `no component "begin"`,
		strings.Replace(apitest.Echo, `"prologue":"Welcome"`, `"prologue":["Welcome"]`, 1): "prologue",
	} {
		for _, dialect := range []string{"", "/0.27"} {
			a := s.Post(dialect+"/api/v1/agents", `{"title":"t","dsl":`+dsl+`}`)
			require.NotZero(t, a.Code())
			require.Contains(t, a.Message(), problem)
		}
		s.Good(s.Post("/v1/canvas/set", `{"title":"`+problem[:6]+`","dsl":`+dsl+`}`))
	}
}

// A canvas that was saved before, or is a drawing only, is refused with the reason in every
// dialect.
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

func parsed(t *testing.T, text string) engine.Value {
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err)
	return v
}
