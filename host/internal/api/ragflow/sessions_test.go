package ragflow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// A session that a client opens begins with the prologue; one that a question opens begins with it.
func TestFirstMessageOfASession(t *testing.T) {
	s := apitest.New(t)
	first := func(messages engine.Value) string {
		m := messages.At(0)
		return m.Get("role").Str() + ": " + m.Get("content").Str()
	}
	for title, c := range map[string]struct{ dsl, prologue string }{
		"set":   {apitest.Echo, "Welcome"},
		"empty": {strings.Replace(apitest.Echo, "Welcome", "", 1), ""},
		"unset": {strings.Replace(apitest.Echo, `"prologue":"Welcome"`, "", 1), "Hi! I'm your smart assistant. What can I do for you?"},
	} {
		id := s.Canvas(title, c.dsl)
		beta, err := s.Store.Betas.For(t.Context(), "one", id)
		require.NoError(t, err)
		for _, dialect := range []string{"", "/0.27"} {
			sessions := dialect + "/api/v1/agents/" + id + "/sessions"
			opened := s.Good(s.Post(sessions, `{}`)).Data()
			require.Equal(t, "assistant: "+c.prologue, first(opened.Get("message")), title)
			row := s.Get(sessions + "?id=" + opened.Get("id").Str()).Data().At(0)
			require.Equal(t, "assistant: "+c.prologue, first(row.Get("messages")), title)
			for path, key := range map[string]string{
				dialect + "/api/v1/agents/" + id + "/completions":    "one",
				dialect + "/api/v1/agentbots/" + id + "/completions": beta.Text,
			} {
				asked := s.Good(s.Request("POST", path, key, `{"query":"tea?","stream":false}`)).Data().Get("session_id").Str()
				row := s.Get(sessions + "?id=" + asked).Data().At(0)
				require.Equal(t, "user: tea?", first(row.Get("messages")), path)
				require.Equal(t, 2, row.Get("messages").Len())
			}
			inputs := s.Good(s.Request("GET", dialect+"/api/v1/agentbots/"+id+"/inputs", beta.Text, ""))
			require.Equal(t, c.prologue, inputs.Data().Get("prologue").Str(), title)
		}
		made := s.As("one", "POST", "/api/v2/canvases/"+id+"/sessions", `{}`, 201)
		require.Equal(t, "assistant: "+c.prologue, first(made.Get("messages")), title)
	}
}
