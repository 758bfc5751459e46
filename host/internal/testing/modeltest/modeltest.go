// Package modeltest has model servers that answer in the shapes of real OpenAI-compatible servers:
// [Shapes] is the table, [Server] plays one of its rows, and [Recorded] plays a response that a
// user has recorded.
//
// A body may contain the marks {{a}} and {{b}}, the two halves of the answer's text, and {{text}},
// the whole text, each as the inside of a JSON string. A server is safe for concurrent use.
package modeltest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Shape is the behaviour of a server, with the outcome for a caller.
type Shape struct {
	Name   string
	Stream Answer // to a request for a stream; without a body it is Whole
	Whole  Answer // to a request for a whole answer; without a body it is Stream

	// Refuses selects the requests that get Stream or Whole; other requests get a plain answer. Nil
	// selects all, or, for a shape with calls, those that offer tools and have no result of one.
	Refuses func(r *Request) bool

	Path string // the only path that is served; "" serves all
	Base string // what follows the address of the server in its base URL; "" means /v1
	Want Want
}

// Answer is one response.
type Answer struct {
	Status int // 0 means 200
	Header map[string]string
	Body   string
	Open   bool // the connection stays open after the body
	Abort  bool // the connection breaks after the body
}

// Want describes the outcome for a caller.
type Want struct {
	Fails     []string // parts of the error; without any the call succeeds
	Status    int      // of the error
	Partial   bool     // the text arrives before the error
	Reasoning string   // reasoning that accompanies the answer
	Calls     []Call   // function calls of the first answer
	Back      []string // parts of the request after the calls: what must be sent back
	Requests  int      // requests that one call makes at most; 0 does not count them
	Text      string   // the text of an answer that does not depend on the question
}

// Call is a function call.
type Call struct{ Name, Arguments string }

// Request is a request as a server sees it.
type Request struct {
	Path   string
	Header http.Header
	Raw    string
	Body   map[string]any
}

// Has reports whether the request has a member.
func (r *Request) Has(name string) bool { _, ok := r.Body[name]; return ok }

// Results reports whether the request has the result of a tool.
func (r *Request) Results() bool {
	list, _ := r.Body["messages"].([]any)
	for _, m := range list {
		if message, _ := m.(map[string]any); message["role"] == "tool" {
			return true
		}
	}
	return false
}

// Server plays one shape.
type Server struct {
	*httptest.Server
	shape Shape
	text  string

	mu       sync.Mutex
	requests []Request
}

// NewServer starts a server whose answers have a text. The caller closes it.
func NewServer(s Shape, text string) *Server {
	server := &Server{shape: s, text: text}
	server.Server = httptest.NewServer(server)
	return server
}

// BaseURL returns the address for the configuration of a provider.
func (s *Server) BaseURL() string {
	switch s.shape.Base {
	case "":
		return s.URL + "/v1"
	case "/":
		return s.URL
	}
	return s.URL + s.shape.Base
}

// Requests returns the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP answers a request in the server's shape.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	in := Request{Path: r.URL.Path, Header: r.Header, Raw: string(raw)}
	if err != nil || json.Unmarshal(raw, &in.Body) != nil {
		http.Error(w, "the request is not JSON", http.StatusTeapot)
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, in)
	s.mu.Unlock()
	if s.shape.Path != "" && s.shape.Path != r.URL.Path {
		http.NotFound(w, r)
		return
	}
	s.write(w, r, s.answer(&in))
}

// answer returns the response to a request.
func (s *Server) answer(in *Request) Answer {
	refuses := s.shape.Refuses
	if refuses == nil && len(s.shape.Want.Calls) > 0 {
		refuses = func(r *Request) bool { return r.Has("tools") && !r.Results() }
	}
	streamed := in.Body["stream"] == true
	if refuses != nil && !refuses(in) {
		return Plain(streamed)
	}
	a := s.shape.Whole
	if streamed && s.shape.Stream.Body != "" || a.Body == "" {
		a = s.shape.Stream
	}
	return a
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, a Answer) {
	body := fill(a.Body, s.text)
	kind := "application/json"
	if trimmed := strings.TrimLeft(body, "\ufeff \r\n"); !strings.HasPrefix(trimmed,
		"{") && !strings.HasPrefix(trimmed, "[") {
		kind = "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	for name, v := range a.Header {
		w.Header().Set(name, v)
	}
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	_, _ = io.WriteString(w, body)
	_ = http.NewResponseController(w).Flush()
	if a.Abort {
		panic(http.ErrAbortHandler)
	}
	if a.Open {
		<-r.Context().Done()
	}
}

// fill replaces the marks of a body.
func fill(body, text string) string {
	a, b := halves(text)
	return strings.NewReplacer("{{a}}", inside(a), "{{b}}", inside(b), "{{text}}", inside(text)).Replace(body)
}

// inside returns a string as JSON writes it, without its quotes.
func inside(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // strings can be encoded
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}

// Recorded returns the shape of a recorded HTTP response, as curl --include writes it.
func Recorded(name string, response []byte) (Shape, error) {
	res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(response)), nil)
	if err != nil {
		return Shape{}, fmt.Errorf("recorded response %s: %w", name, err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return Shape{}, fmt.Errorf("recorded response %s: %w", name, err)
	}
	a := Answer{Status: res.StatusCode, Body: string(body), Header: map[string]string{}}
	for _, header := range []string{"Content-Type", "Retry-After"} {
		if v := res.Header.Get(header); v != "" {
			a.Header[header] = v
		}
	}
	return Shape{Name: name, Stream: a, Whole: a}, nil
}
