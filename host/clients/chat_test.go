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

// reply is the result of one request of a client to an agent.
type reply struct {
	Text, Finish    string
	Tokens, Created int64
	Error           *struct {
		Status  int
		Message string
	}
}

// buildClient builds the client in a folder here, which is a separate module.
func buildClient(t *testing.T, folder string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), folder)
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", file, ".")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}

// TestOpenAIClients queries agents through common clients of OpenAI's API, with their default
// retries.
func TestOpenAIClients(t *testing.T) {
	needNode(t)
	s, native := serve(t, nil), buildClient(t, "openaigo")
	agents := map[string]string{
		"echo": s.canvas("echo", echo), "failing": s.canvas("failing", failing),
		"asking": s.canvas("asking", asking), "nowhere": "0123",
	}
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
			wire    bool // reports the creation time of the response
		}{
			{"openai-node", []string{"node", "chat_openai.mjs"}, true},
			{"AI SDK", []string{"node", "chat_aisdk.mjs"}, true},
			{"LangChain", []string{"node", "chat_langchain.mjs"}, false},
			{"openai-go", []string{native}, true},
		} {
			if dialect != "" && client.name != "openai-node" {
				continue // both dialects share this code
			}
			t.Run(client.name+dialect, func(t *testing.T) {
				started := time.Now().Unix()
				runs := s.runsOf(agents["failing"])
				var got map[string]map[string]reply
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
							require.InDelta(t, started, g.Created, 120, "%s %s", form, name)
						}
					}
					for name, status := range map[string]int{"nowhere": 404, "unauthorized": 401} {
						require.NotNil(t, got[form][name].Error, "%s %s: %+v", form, name, got[form][name])
						require.Equal(t, status, got[form][name].Error.Status, "%s %s: %+v", form, name,
							got[form][name].Error)
					}
					require.NotNil(t, got[form]["failing"].Error, "%s: %+v", form, got[form]["failing"])
					require.Contains(t, got[form]["failing"].Error.Message, "Invoke:X", form)
				}
				require.Equal(t, 400, got["whole"]["failing"].Error.Status)
				require.Contains(t, got["whole"]["nowhere"].Error.Message, "You don't own the agent 0123")
				require.Equal(t, runs+2, s.runsOf(agents["failing"]), "a failed run is not retried")
			})
		}
	}
}

// runsOf returns the number of runs of a canvas.
func (s *server) runsOf(canvas string) int {
	s.t.Helper()
	var list struct{ Total int }
	s.call("GET", "/api/v2/runs?canvas="+canvas, nil).into(s.t, &list)
	return list.Total
}
