package pluginkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Case is one test of an author: the input, the responses of the host, the output.
type Case struct {
	Name      string       `json:"name"`
	Component string       `json:"component,omitempty"` // of a file with several
	Params    engine.Value `json:"params,omitzero"`
	Arguments engine.Value `json:"arguments,omitzero"`
	Settings  engine.Value `json:"settings,omitzero"`
	// The world: answers of web services and models in order, the last one again and again; values
	// to find.
	HTTP      []Response        `json:"http,omitempty"`
	Chat      []string          `json:"chat,omitempty"`
	Values    map[string]string `json:"values,omitempty"`
	Variables engine.Value      `json:"variables,omitzero"`
	Secrets   map[string]string `json:"secrets,omitempty"`
	// What is expected: members of Outputs are compared, others are not looked at; Error is a code.
	Outputs engine.Value `json:"outputs,omitzero"`
	Emitted *string      `json:"emitted,omitempty"` // all pieces of the answer together
	Error   string       `json:"error,omitempty"`
}

// Response is an answer of a web service.
type Response struct {
	URL     string            `json:"url,omitempty"` // must be part of the address; empty fits all
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
}

// ReadCases reads a JSON list of cases.
func ReadCases(raw []byte) ([]Case, error) {
	var out []Case
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("cases: %w", err)
	}
	for i, c := range out {
		if c.Name == "" {
			return nil, fmt.Errorf("cases[%d]: name is missing", i)
		}
	}
	return out, nil
}

// world handles the requests of a plugin during a case.
type world struct {
	mu     sync.Mutex
	c      Case
	asked  int
	chats  int
	broken error // every service fails with it
	status int   // every web service answers with it, when not 0
}

func (w *world) set(c Case, broken error, status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.c, w.asked, w.chats, w.broken, w.status = c, 0, 0, broken, status
}

// RoundTrip answers a request from the case.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return nil, w.broken
	}
	if w.status != 0 {
		return response(r, Response{Status: w.status}), nil
	}
	var fitting []Response
	for _, h := range w.c.HTTP {
		if strings.Contains(r.URL.String(), h.URL) {
			fitting = append(fitting, h)
		}
	}
	if len(fitting) == 0 {
		return nil, fmt.Errorf("the case has no answer for %s %s", r.Method, r.URL.Redacted())
	}
	h := fitting[min(w.asked, len(fitting)-1)]
	w.asked++
	return response(r, h), nil
}

func response(r *http.Request, h Response) *http.Response {
	if h.Status == 0 {
		h.Status = http.StatusOK
	}
	res := &http.Response{StatusCode: h.Status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(h.Body)), Request: r, ProtoMajor: 1, ProtoMinor: 1}
	for name, v := range h.Headers {
		res.Header.Set(name, v)
	}
	return res
}

// Chat answers from the case.
func (w *world) Chat(_ context.Context, q contract.ChatRequest, delta func(string) error) (contract.ChatAnswer, error) {
	w.mu.Lock()
	broken, list, at := w.broken, w.c.Chat, w.chats
	w.chats++
	w.mu.Unlock()
	if broken != nil {
		return contract.ChatAnswer{}, broken
	}
	if len(list) == 0 {
		return contract.ChatAnswer{}, errors.New("the case has no answer of a model")
	}
	text := list[min(at, len(list)-1)]
	if q.Stream && delta != nil {
		if err := delta(text); err != nil {
			return contract.ChatAnswer{}, err
		}
	}
	return contract.ChatAnswer{Text: text}, nil
}

// Embed returns for each text a vector with its length.
func (w *world) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{float32(len(t))}
	}
	return out, nil
}

// Secret answers from the case.
func (w *world) Secret(_ context.Context, name string) (engine.Secret, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := w.c.Secrets[name]
	return engine.Secret{Value: v}, ok, nil
}

// mark is the mark of every call, so that both kernels give and count the same.
const mark = "0123456789abcdef0123456789abcdef"

// memory holds the variables of one call.
type memory struct{ values engine.Value }

func (m *memory) Variable(_ context.Context, name string) (engine.Value, bool, error) {
	v, ok := m.values.Lookup(name)
	return v, ok, nil
}

func (m *memory) SetVariable(_ context.Context, name string, v engine.Value) error {
	if m.values.IsNull() {
		m.values = engine.Object()
	}
	m.values = m.values.With(name, v)
	return nil
}

// invocation is a case as a call. said collects the pieces of the answer.
func (w *world) invocation(ctx context.Context, m *contract.Manifest, c Case, tenant string,
	emit func(contract.Emission) error,
) (plugin.Invocation, error) {
	kv := &plugin.MemoryKV{}
	for key, v := range c.Values {
		if err := kv.Set(ctx, key, &v, 1<<30); err != nil {
			return plugin.Invocation{}, err
		}
	}
	m, err := m.ByName(c.Component)
	if err != nil {
		return plugin.Invocation{}, err
	}
	in := plugin.Invocation{Component: m, ID: "kit/1/1", Node: "Plugin:0", Locale: "en"}
	in.Params, in.Arguments = withDefaults(c.Params, m.Params), withDefaults(c.Arguments, m.Arguments)
	in.Settings = withDefaults(c.Settings, m.Settings)
	in.Tenant, in.Run, in.Timeout, in.SecretMark = tenant, "kit", 20*time.Second, mark
	in.Services = plugin.Services{Chat: w, Embed: w, KV: kv, Variables: &memory{c.Variables}, Secrets: w}
	in.Emit = func(_ context.Context, e contract.Emission) error { return emit(e) }
	return in, nil
}

// withDefaults adds the defaults of a schema, as a node does.
func withDefaults(given engine.Value, s *contract.Schema) engine.Value {
	for _, name := range s.Names() {
		p, _ := s.Property(name)
		if d := p.Default(); !d.IsNull() && given.Get(name).IsNull() {
			if given.IsNull() {
				given = engine.Object()
			}
			given = given.With(name, d)
		}
	}
	return given
}

// outcome is the result of one play of a case.
type outcome struct {
	answer  plugin.Answer
	err     error
	emitted strings.Builder
	emits   int
	went    time.Duration // on after it was cancelled
}

func (b *bench) run(ctx context.Context, m *plugin.Module, c Case, tenant string, cancelAt int) *outcome {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := &outcome{}
	var cancelled time.Time
	in, err := b.world.invocation(ctx, m.Manifest(), c, tenant, func(e contract.Emission) error {
		if o.emits++; o.emits == cancelAt {
			cancelled = time.Now()
			cancel()
		}
		if e.Kind == contract.Delta {
			o.emitted.WriteString(e.Text)
		}
		return nil
	})
	if err != nil {
		o.err = err
		return o
	}
	o.answer, o.err = m.Invoke(ctx, in)
	if o.err == nil && in.Component.Trigger != "" {
		_, o.err = in.Component.ReadTriggered(o.answer.Outputs)
	}
	if !cancelled.IsZero() {
		o.went = time.Since(cancelled)
	}
	return o
}

// check compares an outcome with what the case expects.
func (c *Case) check(o *outcome) error {
	code := codeOf(o.err)
	if c.Error != "" || o.err != nil {
		if code != c.Error {
			return fmt.Errorf("want the error %q, got %v", c.Error, o.err)
		}
		return nil
	}
	for name, want := range c.Outputs.Fields() {
		if err := within("outputs."+name, want, o.answer.Outputs.Get(name)); err != nil {
			return err
		}
	}
	if c.Emitted != nil && *c.Emitted != o.emitted.String() {
		return fmt.Errorf("want %q emitted, got %q", *c.Emitted, o.emitted.String())
	}
	return nil
}

// within compares: an object must have the wanted members, everything else must be equal.
func within(place string, want, got engine.Value) error {
	if want.Kind() == engine.KindObject && got.Kind() == engine.KindObject {
		for name, v := range want.Fields() {
			if err := within(place+"."+name, v, got.Get(name)); err != nil {
				return err
			}
		}
		return nil
	}
	if !engine.Equal(want, got) {
		return fmt.Errorf("%s: want %s, got %s", place, want.JSON(), got.JSON())
	}
	return nil
}

func codeOf(err error) string {
	var e *contract.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
