package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine/stable"
)

// This file logs exchanges: requests of a run to its ports, with their answers. With them a run can
// be displayed later, become a test and be replayed without the ports.

// Sizes of parts of exchanges.
const (
	leastPart = 256     // bytes from which a value is logged apart, once for all exchanges that have it
	mostPart  = 1 << 20 // bytes up to which a part is logged; of a larger one only hash and size are
)

// partName is the only member of an object that stands for a part: {"$part": HASH}.
const partName = "$part"

// exchange is a question to a port that has not been answered yet.
type exchange struct {
	run     *run
	call    *execution // nil for a question of the run
	port    string
	nth     int // by the order in which the questions were asked
	request Value
	began   time.Time
	first   time.Duration // until the first piece of the answer; 0 without pieces
}

// ask begins an exchange of a call, or without one of the run itself; nil when the run does not log
// exchanges. The request is only made if it does.
func ask(r *run, call *execution, port string, request func() Value) *exchange {
	if !logsExchanges(r) {
		return nil
	}
	return &exchange{
		run: r, call: call, port: port, nth: nextExchange(&outermost(r).notebook), request: r.redact(request()),
		began: r.clock.Now(),
	}
}

func logsExchanges(r *run) bool { return r.opt.Exchanges && r.logs() }

// outermost returns the run that this one is part of, whose log has the exchanges of both.
func outermost(r *run) *run {
	for r.opt.around != nil {
		r = r.opt.around.run
	}
	return r
}

// piece notes that a piece of the answer has come.
func (x *exchange) piece() {
	if x != nil && x.first == 0 {
		x.first = max(x.run.clock.Now().Sub(x.began), time.Nanosecond)
	}
}

// end logs the exchange. more are further members of the entry.
func (x *exchange) end(answer Value, err error, more ...slot) {
	if x == nil {
		return
	}
	answer = x.run.redact(answer)
	if err != nil {
		answer = withError(answer, x.run.redactError(err))
	}
	b := NewObject(12).Set("port", String(x.port))
	if c := x.call; c != nil {
		b.Set("component_id", String(c.root().id)).Set("path", String(c.tracePath()))
	}
	request := inParts(x.run, x.request)
	key := sha256Sum(appendCanonical(nil, List(String(x.port), request)))
	b.Set("nth", Int(int64(x.nth))).Set("key", String(hex.EncodeToString(key[:])))
	b.Set("request", request).Set("answer", inParts(x.run, answer))
	for _, m := range more {
		b.Set(m.name, m.value)
	}
	now := x.run.clock.Now()
	if x.first > 0 {
		b.Set("first_ms", milliseconds(x.first))
	}
	b.Set("ms", milliseconds(now.Sub(x.began))).Set("created_at", unixSeconds(now))
	var n *node
	if x.call != nil {
		n = x.call.node
	}
	x.run.note(EventExchange, n, b.Value())
}

func milliseconds(d time.Duration) Value { return Float(float64(d.Microseconds()) / 1e3) }

// withError adds an error to an answer, with the properties by which callers distinguish errors.
func withError(answer Value, err error) Value {
	if answer.Kind() != KindObject {
		answer = emptyObject
	}
	answer = answer.With("error", String(err.Error()))
	for _, kind := range [...]struct {
		name string
		is   error
	}{{"final", ErrNoRetry}, {"tools_refused", ErrToolsRefused}} {
		if errors.Is(err, kind.is) {
			answer = answer.With(kind.name, Bool(true))
		}
	}
	return answer
}

// inParts returns a request or an answer with its large members, and the large elements of lists
// among them, as parts, which are logged if no exchange of the run had them before.
func inParts(r *run, v Value) Value {
	b := NewObject(v.Len())
	for name, member := range v.Fields() {
		if member.Kind() != KindList {
			b.Set(name, inPart(r, member))
			continue
		}
		list := make([]Value, member.Len())
		for i, e := range member.Elements() {
			list[i] = inPart(r, e)
		}
		b.Set(name, listOf(list))
	}
	return b.Value()
}

func inPart(r *run, v Value) Value {
	_, taken := v.Lookup(partName)
	if v.Size() < leastPart && !taken {
		return v
	}
	sum := sha256Sum(appendCanonical(nil, v))
	hash := String(hex.EncodeToString(sum[:]))
	if root := outermost(r); isNewPart(&root.notebook, sum) {
		entry := Object("hash", hash, "value", v)
		if size := v.Size(); size > mostPart {
			entry = Object("hash", hash, "size", size)
		}
		root.note(EventPart, nil, entry)
	}
	return Object(partName, hash)
}

// appendCanonical appends v as JSON with sorted members, so that equal values have equal texts.
func appendCanonical(b []byte, v Value) []byte {
	switch v.Kind() {
	case KindObject:
		names := make([]string, 0, v.Len())
		for name := range v.Fields() {
			names = append(names, name)
		}
		stable.Sort(names, strings.Compare)
		b = append(b, '{')
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(AppendQuoted(b, name), ':')
			b = appendCanonical(b, v.Get(name))
		}
		return append(b, '}')
	case KindList:
		b = append(b, '[')
		for i, e := range v.Elements() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, e)
		}
		return append(b, ']')
	}
	return v.AppendJSON(b)
}

// question returns the parts of a request that determine the answer. The caller's node, keys and
// clocks are left out, so that renaming a node changes no key.
func (q *ModelRequest) question() Value {
	b := NewObject(12).Set("model", String(q.LLM)).Set("purpose", String(string(q.Purpose)))
	b.Set("system", String(q.System))
	messages := make([]Value, len(q.Messages))
	for i := range q.Messages {
		messages[i] = q.Messages[i].value()
	}
	b.Set("messages", listOf(messages)).Set("config", q.Config.question())
	if len(q.Fallback) > 0 {
		b.Set("fallback", Strings(q.Fallback...))
	}
	if len(q.Tools) > 0 {
		tools := make([]Value, len(q.Tools))
		for i, t := range q.Tools {
			tools[i] = t.value()
		}
		b.Set("tools", listOf(tools))
	}
	for _, m := range [...]slot{{name: "schema", value: q.Schema}, {name: "choices", value: q.Choices}} {
		if !m.value.IsNull() {
			b.Set(m.name, m.value)
		}
	}
	if q.Stream {
		b.Set("stream", Bool(true))
	}
	return b.Value()
}

func (c *ModelConfig) question() Value {
	v := c.Value()
	if c.Thinking != "" {
		v = v.With("thinking", String(c.Thinking))
	}
	return v
}

func (m *ModelMessage) value() Value {
	b := NewObject(6).Set("role", String(m.Role)).Set("content", String(m.Content))
	if len(m.Images) > 0 {
		b.Set("images", Strings(m.Images...))
	}
	if len(m.ToolCalls) > 0 {
		b.Set("calls", callsValue(m.ToolCalls))
	}
	if m.ToolID != "" {
		b.Set("tool_id", String(m.ToolID))
	}
	if !m.Opaque.IsNull() {
		b.Set("opaque", m.Opaque)
	}
	return b.Value()
}

func (t *ToolDef) value() Value {
	return Object("name", t.Name, "description", t.Description, "parameters", t.Parameters)
}

// askedPorts returns ports whose exchanges are logged. Code runs again when a run is played, and
// speech is not kept.
func askedPorts(c *execution, p Ports) *Ports {
	if p.Retriever != nil {
		p.Retriever = askedRetriever{c, p.Retriever}.full()
	}
	if recaller, ok := p.Memory.(Recaller); ok {
		p.Memory = askedMemory{p.Memory, c, recaller}
	}
	if p.Files != nil {
		p.Files = askedFiles{c.run, c, p.Files}
	}
	if p.HTTP != nil {
		p.HTTP = askedHTTP{c, p.HTTP}
	}
	if p.Tools != nil {
		p.Tools = askedTools{c, p.Tools}
	}
	if p.MCP != nil {
		p.MCP = askedMCP{c, p.MCP}
	}
	return &p
}

type askedRetriever struct {
	call *execution
	port Retriever
}

// full returns the retriever with the other abilities of its port.
func (a askedRetriever) full() Retriever {
	if lister, ok := a.port.(MetadataLister); ok {
		return askedLister{a, lister}
	}
	return a
}

func (a askedRetriever) Retrieve(ctx context.Context, q *RetrievalQuery) (Found, error) {
	return askedSearch(ctx, a.call, q, a.port.Retrieve)
}

func askedSearch(
	ctx context.Context, call *execution, q *RetrievalQuery,
	find func(context.Context, *RetrievalQuery) (Found, error),
) (Found, error) {
	x := ask(call.run, call, "retrieval", q.Value)
	found, err := find(ctx, q)
	x.end(found.value(), err)
	return found, err
}

type askedLister struct {
	askedRetriever
	lister MetadataLister
}

func (a askedLister) Metadata(ctx context.Context, datasets []string) (Value, error) {
	x := ask(a.call.run, a.call, "metadata", func() Value { return Object("datasets", Strings(datasets...)) })
	v, err := a.lister.Metadata(ctx, datasets)
	x.end(Object("metadata", v), err)
	return v, err
}

type askedMemory struct {
	Memory
	call     *execution
	recaller Recaller
}

func (a askedMemory) Recall(ctx context.Context, q *RetrievalQuery) (Found, error) {
	return askedSearch(ctx, a.call, q, a.recaller.Recall)
}

func (f *Found) value() Value {
	return Object("chunks", listOf(f.Chunks), "doc_aggs", listOf(f.DocAggs), "diagnostics", Strings(f.Diagnostics...))
}

type askedFiles struct {
	run  *run
	call *execution // nil for the files of the turn
	port Files
}

func (a askedFiles) Read(ctx context.Context, file Value) (string, error) {
	x := ask(a.run, a.call, "file", func() Value { return Object("file", file) })
	text, err := a.port.Read(ctx, file)
	x.end(Object("text", text), err)
	return text, err
}

type askedHTTP struct {
	call *execution
	port HTTP
}

func (a askedHTTP) Do(ctx context.Context, req *HTTPRequest) (*HTTPResponse, error) {
	x := ask(a.call.run, a.call, "http", func() Value {
		return Object("method", req.Method, "url", req.URL, "headers", headerValue(req.Header), "body", req.Body,
			"proxy", req.Proxy)
	})
	res, err := a.port.Do(ctx, req)
	answer := Null
	if res != nil {
		answer = Object("status", res.Status, "headers", headerValue(res.Header), "body", res.Body)
	}
	x.end(answer, err)
	return res, err
}

func headerValue(list []HTTPHeader) Value {
	out := make([]Value, len(list))
	for i, h := range list {
		out[i] = Strings(h.Name, h.Value)
	}
	return listOf(out)
}

type askedTools struct {
	call *execution
	port Tools
}

func (a askedTools) CallTool(ctx context.Context, c *ExternalCall) (Value, error) {
	x := ask(a.call.run, a.call, "tool", func() Value {
		return Object("component", c.Component, "params", c.Params, "arguments", c.Arguments)
	})
	v, err := a.port.CallTool(ctx, c)
	x.end(Object("outputs", v), err)
	return v, err
}

type askedMCP struct {
	call *execution
	port MCP
}

func (a askedMCP) ListTools(ctx context.Context, server *MCPServer) ([]ToolDef, error) {
	x := ask(a.call.run, a.call, "mcp_tools", func() Value { return Object("server", server.name()) })
	defs, err := a.port.ListTools(ctx, server)
	list := make([]Value, len(defs))
	for i := range defs {
		list[i] = defs[i].value()
	}
	x.end(Object("tools", listOf(list)), err)
	return defs, err
}

func (a askedMCP) CallTool(ctx context.Context, server *MCPServer, name string, args Value) (ToolAnswer, error) {
	x := ask(a.call.run, a.call, "mcp", func() Value {
		return Object("server", server.name(), "name", name, "arguments", args)
	})
	answer, err := a.port.CallTool(ctx, server, name, args)
	x.end(Object("answer", answer.Value()), err)
	return answer, err
}

// name names the server in logs: its id, or its address. Its headers may hold keys.
func (s *MCPServer) name() string {
	if s.ID != "" {
		return s.ID
	}
	return s.URL
}
