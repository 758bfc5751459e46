package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/hostmatch"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
	"github.com/easel-canvas/easel/host/internal/egress/web"
)

// Port implements the engine's MCP port for one run.
type Port struct {
	Client *Client
	Owner  string // identifies the run and its tenant; connections are not shared with other owners
	// Find returns the tenant's configuration of a server.
	Find func(ctx context.Context, id string) (Server, error)
	// Save stores a file of a result and returns its location, such as {doc_id}; nil leaves
	// files out.
	Save func(ctx context.Context, name, format string, data []byte) (engine.Value, error)
	// Secrets fills {{secret:NAME}} in headers, arguments and environment; nil knows none.
	Secrets engine.Secrets

	mu     sync.Mutex
	failed map[string]failure // servers that failed to list their tools, by fingerprint
}

// failure is a failed listing, which later agents of the run get without another attempt.
type failure struct {
	err   error
	until time.Time
}

// failureTTL is the pause before a server that failed to list its tools is tried again.
const failureTTL = 30 * time.Second

var _ engine.MCP = (*Port)(nil)

// server returns the configuration of a server with its secrets filled in, and a function that
// hides them.
func (p *Port) server(ctx context.Context, ref *engine.MCPServer) (Server, Hider, error) {
	s := Server{Name: ref.URL, Type: cmp.Or(ref.Type, TypeStreamable), URL: ref.URL}
	if ref.URL == "" {
		var err error
		if s, err = p.Find(ctx, ref.ID); err != nil {
			return s, nil, err
		}
	} else if s.Type == TypeStdio {
		return s, nil, fmt.Errorf("%w: a canvas cannot name a command", ErrType)
	}
	if err := s.Check(); err != nil {
		return s, nil, fmt.Errorf("MCP server %s: %w", cmp.Or(s.Name, ref.ID), err)
	}
	s, box, err := s.filled(ctx, p.Secrets)
	own := filling{ctx: ctx, host: hostOf(&s), box: web.NewSecretBox(p.Secrets, ref.SecretMark)}
	for _, h := range ref.Header {
		own.hide(h.Name, h.Value)
		s.Headers[http.CanonicalHeaderKey(h.Name)] = own.fill(h.Value)
	}
	if err := errors.Join(err, own.err); err != nil {
		return s, nil, fmt.Errorf("MCP server %s: %w", cmp.Or(s.Name, ref.ID), err)
	}
	return s, Hider{box, own.box}, nil
}

// filled returns a copy of the configuration with its variables and secrets filled in, and the box
// that hides the secrets.
func (s *Server) filled(ctx context.Context, secrets engine.Secrets) (Server, *web.SecretBox, error) {
	out := s.resolved()
	mark := engine.NewSecretMark() // all placeholders of the configuration count
	f := filling{ctx: ctx, host: hostOf(&out), box: web.NewSecretBox(secrets, mark), mark: mark}
	for _, texts := range [...]map[string]string{out.Headers, out.Env} {
		for name, text := range texts {
			f.hide(name, text)
		}
		f.all(texts)
	}
	for i, arg := range out.Args {
		out.Args[i] = f.fill(arg)
	}
	return out, f.box, f.err
}

// Filled returns the configuration as it connects, with secrets that its headers, arguments and
// environment name, and what removes their values from results.
func (s *Server) Filled(ctx context.Context, secrets engine.Secrets) (Server, Hider, error) {
	out, box, err := s.filled(ctx, secrets)
	return out, Hider{box}, err
}

// hostOf returns the host that secrets of a server go to; "" for a process.
func hostOf(s *Server) string {
	u, err := url.Parse(s.URL)
	if err != nil || s.Type == TypeStdio {
		return ""
	}
	return hostmatch.Of(u)
}

// filling replaces secrets in texts and keeps the first error.
type filling struct {
	ctx  context.Context
	host string
	box  *web.SecretBox
	mark string // for placeholders that carry none yet; "" when the texts are marked
	err  error
}

func (f *filling) fill(text string) string {
	if f.mark != "" {
		text = engine.MarkSecrets(text, f.mark)
	}
	out, err := f.box.Fill(f.ctx, f.host, text)
	if f.err == nil {
		f.err = err
	}
	return out
}

// hide removes a credential that is written as it is from results, like a secret with a name.
func (f *filling) hide(name, text string) {
	if !engine.HasSecret(engine.MarkSecrets(text, f.box.Mark()), f.box.Mark()) {
		f.box.Hide(redact.Values(name, text)...)
	}
}

func (f *filling) all(texts map[string]string) {
	for name, text := range texts {
		texts[name] = f.fill(text)
	}
}

// Hider removes secrets from the results of a server.
type Hider []*web.SecretBox

// Plain removes the values of secrets from a text.
func (h Hider) Plain(text string) string {
	for _, box := range h {
		text = box.Plain(text)
	}
	return text
}

// file removes the values of secrets from a file: a server may return what it received.
func (h Hider) file(f *file) {
	f.name, f.mimeType = h.Plain(f.name), h.Plain(f.mimeType)
	text := string(f.data)
	if plain := h.Plain(text); plain != text {
		f.data = []byte(plain)
	}
}

// PlainValue removes the values of secrets from a value, the names of its members included.
func (h Hider) PlainValue(v engine.Value) engine.Value {
	text := v.JSON()
	plain := h.Plain(text)
	if plain == text {
		return v
	}
	v, err := engine.ParseJSONText(plain)
	if err != nil {
		return engine.Null // a secret that is a part of JSON
	}
	return v
}

// PlainError removes the values of secrets from an error, which may be nil.
func (h Hider) PlainError(err error) error {
	if err == nil {
		return nil
	}
	for _, box := range h {
		err = box.PlainError(err)
	}
	return err
}

// ListTools lists the tools of a server.
func (p *Port) ListTools(ctx context.Context, ref *engine.MCPServer) ([]engine.ToolDef, error) {
	s, hide, err := p.server(ctx, ref)
	if err != nil {
		return nil, err
	}
	key := s.fingerprint()
	if err := p.failure(key); err != nil {
		return nil, err
	}
	list, err := p.Client.Offered(ctx, p.Owner, s)
	err = hide.PlainError(err)
	if errors.Is(err, ErrServer) && ctx.Err() == nil {
		p.mu.Lock()
		if p.failed == nil {
			p.failed = map[string]failure{}
		}
		p.failed[key] = failure{err, time.Now().Add(failureTTL)}
		p.mu.Unlock()
	}
	if err != nil {
		return nil, err
	}
	out := make([]engine.ToolDef, len(list))
	for i, t := range list {
		t = hide.PlainValue(t)
		out[i] = engine.ToolDef{
			Name: t.Get("name").Str(), Description: t.Get("description").Str(), Parameters: t.Get("inputSchema"),
		}
	}
	return out, nil
}

// failure returns the cached error of a server, or nil if it may be tried.
func (p *Port) failure(key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.failed[key]; time.Now().Before(s.until) {
		return s.err
	}
	return nil
}

// CallTool calls a tool of a server. Images and other files of its result are stored; the text has
// the reason why one is not.
func (p *Port) CallTool(ctx context.Context, ref *engine.MCPServer, name string, arguments engine.Value) (
	answer engine.ToolAnswer, err error,
) {
	s, hide, err := p.server(ctx, ref)
	if err != nil {
		return answer, err
	}
	r, err := p.Client.call(ctx, p.Owner, s, name, arguments)
	for i := range r.files {
		hide.file(&r.files[i])
		stored, failed := p.save(ctx, i, &r.files[i])
		if failed != nil {
			r.leaveOut(i, failed)
			continue
		}
		answer.Files = append(answer.Files, stored)
	}
	answer.Result = engine.String(hide.Plain(r.text))
	return answer, hide.PlainError(err)
}

// save stores file i of a result.
func (p *Port) save(ctx context.Context, i int, f *file) (engine.Value, error) {
	switch {
	case p.Save == nil:
		return engine.Null, errNoFiles
	case i >= maxFiles:
		return engine.Null, fmt.Errorf("a result may have %d files", maxFiles)
	}
	name := f.named(i)
	stored, err := p.Save(ctx, name, strings.TrimPrefix(path.Ext(name), "."), f.data)
	if err != nil {
		return engine.Null, err
	}
	return engine.StoredFile(stored, name, f.mimeType, len(f.data)), nil
}
