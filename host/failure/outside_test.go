package failure_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// outside is the HTTP server for runs: steps that take some time, and a streaming language model.
type outside struct {
	url string

	mu    sync.Mutex
	asked map[string]int // requests by path
	hooks map[string]func()
	held  map[string]chan struct{}
}

// stepTime is the duration of a step that is not held.
const stepTime = 30 * time.Millisecond

func newOutside(t testing.TB) *outside {
	o := &outside{asked: map[string]int{}, hooks: map[string]func(){}, held: map[string]chan struct{}{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", o.model)
	mux.HandleFunc("GET /search", o.search)
	mux.HandleFunc("/", o.step)
	server := httptest.NewServer(mux)
	t.Cleanup(server.CloseClientConnections) // those of killed and frozen hosts
	t.Cleanup(server.Close)
	o.url = server.URL
	return o
}

// once calls a function during the first request for a path.
func (o *outside) once(path string, do func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hooks[path] = do
}

// hold delays all requests for a path until release. arrived is closed when the first arrives.
func (o *outside) hold(path string) (arrived <-chan struct{}, release func()) {
	came, held := make(chan struct{}), make(chan struct{})
	o.once(path, func() { close(came) })
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held[path] = held
	return came, func() { close(held) }
}

// times returns the number of requests for a path.
func (o *outside) times(path string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked[path]
}

func (o *outside) step(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.asked[r.URL.Path]++
	hook, held := o.hooks[r.URL.Path], o.held[r.URL.Path]
	delete(o.hooks, r.URL.Path)
	o.mu.Unlock()
	if hook != nil {
		hook()
	}
	late := time.After(stepTime)
	if held != nil {
		late = nil
	}
	select {
	case <-held:
	case <-late:
	case <-r.Context().Done():
		return
	}
	_, _ = io.WriteString(w, "answer of "+r.URL.Path) // the client may be gone
}

// search answers as SearXNG does.
func (o *outside) search(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.asked[r.URL.Path]++
	o.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	found := engine.Object("title", "T", "url", "http://example.org", "content", "found "+r.URL.Query().Get("q"))
	_, _ = io.WriteString(w, engine.Object("results", engine.List(found)).JSON()) // the client may be gone
}

// model streams the number of words in the question ("words:100"), without end by default, each of
// the given length ("wide:4000"). If it is offered functions it calls each once and then repeats
// the last result.
func (o *outside) model(w http.ResponseWriter, r *http.Request) {
	var ask chatRequest
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if len(ask.Tools) > 0 {
		caller := toolCaller{text: func(a *chatRequest) string { return string(a.Messages[len(a.Messages)-1].Content) }}
		caller.serve(w, &ask)
		return
	}
	words, wide := -1, 0
	for _, m := range ask.Messages {
		if i := strings.Index(string(m.Content), "words:"); i >= 0 {
			// Keep words without a number.
			_, _ = fmt.Sscanf(string(m.Content[i:]), "words:%d wide:%d", &words, &wide)
		}
	}
	fill := strings.Repeat("x", wide)
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for i := 0; i != words; i++ {
		_, err := fmt.Fprintf(
			w,
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word%d%s \"}}]}\n\n",
			i,
			fill,
		)
		if err != nil || flush.Flush() != nil {
			return
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	}
	_, _ = io.WriteString(
		w,
		"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
	)
}

// chain is a canvas of n steps that each ask outside for QUERY/1, QUERY/2, ..., and a message of
// the last answer.
func (o *outside) chain(n int) string {
	lines := []string{"begin Begin"}
	for i := 1; i <= n; i++ {
		lines = append(lines, o.asking(i))
	}
	return sketch.Chain(append(lines, fmt.Sprintf(`Message:End Message {"content":["{Invoke:S%d@result}"]}`, n))...)
}

// asking returns a node that requests QUERY/i from outside; more are members of its params.
func (o *outside) asking(i int, more ...string) string {
	params := fmt.Sprintf(`"url":"%s/{sys.query}/%d","method":"get","clean_html":false`, o.url, i)
	return fmt.Sprintf("Invoke:S%d Invoke {%s}", i, strings.Join(append(more, params), ","))
}

// talk is a canvas in which the model answers the query.
var talk = sketch.Canvas(
	"begin Begin -> LLM:A",
	`LLM:A LLM {"llm_id":"","sys_prompt":"Talk.","prompts":[{"role":"user","content":"{sys.query}"}]} -> Message:M`,
	`Message:M Message {"content":["{LLM:A@content}"]}`,
)

// requireSteps checks that a chain of n steps is in the log once, in order.
func requireSteps(t testing.TB, events []event, n int) {
	t.Helper()
	want := []string{"workflow_started", "node_started begin", "node_finished begin"}
	for i := 1; i <= n; i++ {
		want = append(want, fmt.Sprintf("node_started Invoke:S%d", i), fmt.Sprintf("node_finished Invoke:S%d", i))
	}
	want = append(
		want,
		"node_started Message:End",
		"message",
		"message_end",
		"node_finished Message:End",
		"workflow_finished",
		"end",
	)
	var got []string
	for _, e := range events {
		if e.kind != "takeover" {
			got = append(got, strings.TrimSpace(e.kind+" "+e.node))
		}
	}
	require.Equal(t, want, got)
}
