package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// said is what a client made of one answer of an agent.
type said struct {
	Text, Finish    string
	Tokens, Created int64
	Error           *struct {
		Status  int
		Message string
	}
}

// openaigo builds the client of ./openaigo.
func openaigo(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "openaigo")
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", file, ".")
	cmd.Dir = "openaigo"
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}

// TestOpenAIClients asks agents through the clients that people have for OpenAI's form, with their
// own habits of retrying.
func TestOpenAIClients(t *testing.T) {
	needNode(t)
	s, native := serve(t, nil), openaigo(t)
	agents := map[string]string{"echo": s.canvas("echo", echo), "failing": s.canvas("failing", failing), "asking": s.canvas("asking", asking), "nowhere": "0123"}
	for _, dialect := range []string{"", "/0.27"} {
		input := map[string]string{"key": s.key}
		for name, id := range agents {
			input[name] = s.url + dialect + "/api/v1/agents_openai/" + id
		}
		argument, err := json.Marshal(input)
		require.NoError(t, err)
		for _, client := range []struct {
			name    string
			command []string
			wire    bool // it shows when the answer was made
		}{
			{"openai-node", []string{"node", "chat_openai.mjs"}, true},
			{"AI SDK", []string{"node", "chat_aisdk.mjs"}, true},
			{"LangChain", []string{"node", "chat_langchain.mjs"}, false},
			{"openai-go", []string{native}, true},
		} {
			if dialect != "" && client.name != "openai-node" {
				continue // both dialects answer with the same code
			}
			t.Run(client.name+dialect, func(t *testing.T) {
				began := time.Now().Unix()
				runs := s.runsOf(agents["failing"])
				var got map[string]map[string]said
				program(t, &got, append(client.command, string(argument))...)
				for _, form := range []string{"whole", "streamed"} {
					for name, want := range map[string]string{
						"echo": "Du sagst: tea? ✓", "parts": "Du sagst: one\ntwo ✓", "asking": "Your city?",
					} {
						g := got[form][name]
						require.Nil(t, g.Error, "%s %s: %+v", form, name, g.Error)
						require.Equal(t, want, g.Text, "%s %s", form, name)
						require.Equal(t, "stop", g.Finish, "%s %s", form, name)
						require.Positive(t, g.Tokens, "%s %s", form, name)
						if client.wire {
							require.InDelta(t, began, g.Created, 120, "%s %s", form, name)
						}
					}
					for name, status := range map[string]int{"nowhere": 404, "stranger": 401} {
						require.NotNil(t, got[form][name].Error, "%s %s: %+v", form, name, got[form][name])
						require.Equal(t, status, got[form][name].Error.Status, "%s %s: %+v", form, name, got[form][name].Error)
					}
					require.NotNil(t, got[form]["failing"].Error, "%s: %+v", form, got[form]["failing"])
					require.Contains(t, got[form]["failing"].Error.Message, "Invoke:X", form)
				}
				require.Equal(t, 400, got["whole"]["failing"].Error.Status)
				require.Contains(t, got["whole"]["nowhere"].Error.Message, "You don't own the agent 0123")
				require.Equal(t, runs+2, s.runsOf(agents["failing"]), "a run that failed is not started again")
			})
		}
	}
}

// runsOf is how many runs a canvas has had.
func (s *server) runsOf(canvas string) int {
	s.t.Helper()
	var list struct{ Total int }
	s.call("GET", "/api/v2/runs?canvas="+canvas, nil).into(s.t, &list)
	return list.Total
}
