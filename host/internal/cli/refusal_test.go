package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// plain is an endpoint of a model without tools: it refuses requests with the member tools, and
// plans in text otherwise.
type plain struct {
	refusal string

	mu    sync.Mutex
	tools []bool // of each request, whether it had tools
}

func (p *plain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a request that was cut does not parse
	var in struct {
		Tools    []any
		Stream   bool
		Messages []struct{ Content string }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	p.mu.Lock()
	p.tools = append(p.tools, len(in.Tools) > 0)
	p.mu.Unlock()
	if len(in.Tools) > 0 {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%q}}`, p.refusal)
		return
	}
	answer := "the answer"
	if last := in.Messages[len(in.Messages)-1]; strings.Contains(last.Content, "complete_task") {
		answer = `[{"name": "complete_task", "arguments": {"answer": "x"}}]`
	}
	text, _ := json.Marshal(answer) // a string has JSON
	if in.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
		const piece = `{"choices":[{"delta":{"content":%s},"finish_reason":"stop"}]}`
		_, _ = fmt.Fprintf(w, "data: "+piece+"\n\ndata: [DONE]\n\n", text)
		return
	}
	_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}]}`, text)
}

// talk has a conversation of two turns with an Agent on an endpoint.
func talk(t *testing.T, p *plain, mode string) (code int, out, errs string) {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	canvas := file(t, "plain.json", sketch.Chain("begin Begin",
		`Agent:A Agent {"tool_mode":"`+mode+`","message_history_window_size":1,
			"prompts":[{"role":"user","content":"{sys.query}"}],
			"tools":[{"component_name":"Wikipedia","name":"W","params":{}}]}`,
		`Message:M Message {"content":["{Agent:A@content}"]}`))
	var stdout, stderr bytes.Buffer
	a := withEnv(t, &stdout, &stderr, []string{"OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_MODEL=m"})
	a.in.Reset(strings.NewReader("first\nsecond\n"))
	code = a.exit(t.Context(), a.dispatch(t.Context(), []string{"chat", canvas}))
	return code, stdout.String(), stderr.String()
}

func TestAgentOnAModelWithoutTools(t *testing.T) {
	p := &plain{refusal: "gemma:2b does not support tools"}
	code, out, errs := talk(t, p, "auto")
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, 2, strings.Count(out, "the answer"), out)
	require.Contains(t, errs, "gemma:2b does not support tools; it plans in text instead")
	require.Equal(t, 1, strings.Count(errs, "plans in text instead"), "the second turn knows it")
	require.Equal(t, []bool{true, false, false, false, false}, p.tools)

	p = &plain{refusal: "gemma:2b does not support tools"}
	_, out, errs = talk(t, p, "native")
	require.NotContains(t, out, "the answer", "the canvas demands native calls")
	require.Contains(t, errs, "gemma:2b does not support tools")
	require.Equal(t, []bool{true, true}, p.tools)

	p = &plain{refusal: "Invalid schema for function 'x'"}
	_, out, errs = talk(t, p, "auto")
	require.NotContains(t, out, "the answer")
	require.Contains(t, errs, "Invalid schema for function 'x'")
	require.Equal(t, []bool{true, true}, p.tools)

	p = &plain{}
	code, out, errs = talk(t, p, "prompt")
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, 2, strings.Count(out, "the answer"), out)
	require.Equal(t, []bool{false, false, false, false}, p.tools)
}
