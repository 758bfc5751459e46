package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// A session that a client opens begins with the prologue; one that a question opens begins with it.
func TestFirstMessageOfASession(t *testing.T) {
	s := newSite(t)
	first := func(messages engine.Value) string {
		m := messages.At(0)
		return m.Get("role").Str() + ": " + m.Get("content").Str()
	}
	for title, c := range map[string]struct{ dsl, prologue string }{
		"set":   {echo, "Welcome"},
		"empty": {strings.Replace(echo, "Welcome", "", 1), ""},
		"unset": {strings.Replace(echo, `"prologue":"Welcome"`, "", 1), "Hi! I'm your smart assistant. What can I do for you?"},
	} {
		id := s.canvas(title, c.dsl)
		beta, err := s.store.BetaFor(t.Context(), "one", id)
		require.NoError(t, err)
		for _, dialect := range []string{"", "/0.27"} {
			sessions := dialect + "/api/v1/agents/" + id + "/sessions"
			opened := s.good(s.post(sessions, `{}`)).data()
			require.Equal(t, "assistant: "+c.prologue, first(opened.Get("message")), title)
			row := s.get(sessions + "?id=" + opened.Get("id").Str()).data().At(0)
			require.Equal(t, "assistant: "+c.prologue, first(row.Get("messages")), title)
			for path, key := range map[string]string{
				dialect + "/api/v1/agents/" + id + "/completions":    "one",
				dialect + "/api/v1/agentbots/" + id + "/completions": beta.Text,
			} {
				asked := s.good(s.request("POST", path, key, `{"query":"tea?","stream":false}`)).data().Get("session_id").Str()
				row := s.get(sessions + "?id=" + asked).data().At(0)
				require.Equal(t, "user: tea?", first(row.Get("messages")), path)
				require.Equal(t, 2, row.Get("messages").Len())
			}
			inputs := s.good(s.request("GET", dialect+"/api/v1/agentbots/"+id+"/inputs", beta.Text, ""))
			require.Equal(t, c.prologue, inputs.data().Get("prologue").Str(), title)
		}
		made := s.as("one", "POST", "/api/v2/canvases/"+id+"/sessions", `{}`, 201)
		require.Equal(t, "assistant: "+c.prologue, first(made.Get("messages")), title)
	}
}
