package host

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

var toolUsing = sketch.Canvas(
	"begin Begin -> A",
	`A Agent {"tool_mode":"native","llm_id":"any@local","prompts":[{"role":"user","content":"{sys.query}"}],
		"tools":[{"component_name":"plugin:typewriter@1","name":"Typewriter","params":{"pause_ms":0}}]} -> M`,
	`M Message {"content":["{A@content}"]}`,
)

// toolCaller returns a model server that calls the first offered tool with its text, and answers
// with the result. It refuses names of functions that OpenAI refuses.
func toolCaller(t *testing.T, offered chan<- json.RawMessage) (url string) {
	return httpServer(t, func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			Messages []struct{ Role, Content string }
			Tools    []struct {
				Function struct {
					Name       string
					Parameters json.RawMessage
				}
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || len(ask.Tools) != 1 ||
			strings.ContainsAny(ask.Tools[0].Function.Name, ":@. ") {
			http.Error(w, fmt.Sprintf("%v, tools %v", err, ask.Tools), http.StatusBadRequest)
			return
		}
		say := func(delta any, reason string) {
			raw, err := json.Marshal(map[string]any{"choices": []any{map[string]any{
				"index": 0, "delta": delta,
				"finish_reason": reason,
			}}})
			if err != nil {
				t.Error(err)
			}
			_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", raw) // the client may be gone
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if last := ask.Messages[len(ask.Messages)-1]; last.Role == "tool" {
			say(map[string]any{"content": "It gave: " + last.Content}, "stop")
			return
		}
		tool := ask.Tools[0].Function
		select {
		case offered <- tool.Parameters:
		default:
		}
		say(map[string]any{"tool_calls": []any{map[string]any{
			"index": 0, "id": "c1", "type": "function",
			"function": map[string]any{"name": tool.Name, "arguments": `{"text":"clack clack"}`},
		}}}, "tool_calls")
	})
}

// An Agent of a saved canvas calls a plugin over HTTP. While the plugin is missing, its calls are
// errors that the model receives, and the run continues; once it is installed the next run has it,
// without a new save of the canvas or a restart of the host.
func TestPluginIsAToolOfAnAgent(t *testing.T) {
	dir := t.TempDir()
	offered := make(chan json.RawMessage, 1)
	_, url := open(t, Config{Dir: dir, Models: Models{Providers: []model.Provider{{
		Name:    "local",
		BaseURL: toolCaller(t, offered) + "/v1",
	}}}})
	canvas := saved(t, url, "key", toolUsing)
	require.Contains(t, said(t, url, "key", canvas, "Type."), "not installed")
	<-offered

	c := installer(t, filepath.Join(dir, "plugins"))
	_, err := c.Install(t.Context(), packed(t, "typewriter", ""), plugin.Local)
	require.NoError(t, err)
	var answer string
	require.Eventually(t, func() bool {
		answer = said(t, url, "key", canvas, "Type.")
		return answer == "It gave: clack clack"
	}, patience, poll, "%s", &answer)
	<-offered // by a run that may have begun before the plugin was there
	require.Equal(t, "It gave: clack clack", said(t, url, "key", canvas, "Type."))
	require.JSONEq(t,
		`{"type":"object","properties":{"text":{"type":"string","description":"the text to say"}},"required":["text"]}`,
		string(<-offered))

	require.NoError(t, c.Remove(t.Context(), "typewriter", false))
	require.Eventually(t, func() bool {
		answer = said(t, url, "key", canvas, "Type.")
		return strings.Contains(answer, "not installed")
	}, patience, poll, "%s", &answer)
}
