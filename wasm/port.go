package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// Each type here adapts one port of the engine to a call of the host.

type retriever struct{ *run }

// Retrieve finds passages.
func (r retriever) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	asked := q.Value()
	if q.UserID != "" {
		asked = asked.With("user_id", engine.String(q.UserID))
	}
	v, err := r.once(ctx, "retrieve", asked)
	if err != nil {
		return engine.Found{}, err
	}
	return engine.Found{Chunks: v.Get("chunks").Slice(), DocAggs: v.Get("doc_aggs").Slice()}, nil
}

type files struct{ *run }

// Read returns the text of an upload.
func (r files) Read(ctx context.Context, file engine.Value) (string, error) {
	v, err := r.once(ctx, "files", engine.Object("op", "read", "file", file))
	return v.Get("text").Str(), err
}

type documents struct{ *run }

// Convert makes a file of markdown.
func (r documents) Convert(ctx context.Context, format, markdown string) (engine.Value, error) {
	return r.once(ctx, "documents", engine.Object("format", format, "markdown", markdown))
}

type speech struct{ *run }

// Speak converts text to sound.
func (r speech) Speak(ctx context.Context, text string) ([]byte, error) {
	v, err := r.once(ctx, "speech", engine.Object("text", text))
	if err != nil {
		return nil, err
	}
	sound, err := base64.StdEncoding.DecodeString(v.Get("audio").Str())
	if err != nil {
		return nil, fmt.Errorf("speech: audio: %w", err)
	}
	return sound, nil
}

type fetch struct{ *run }

// Do sends a request. The host may apply the timeout; here it ends the wait in any case.
func (r fetch) Do(ctx context.Context, req *engine.HTTPRequest) (*engine.HTTPResponse, error) {
	headers := engine.NewObject(len(req.Header))
	for _, h := range req.Header {
		headers.Set(h.Name, engine.String(h.Value))
	}
	b := engine.NewObject(8).Set("method", engine.String(req.Method)).Set("url", engine.String(req.URL)).Set("headers",
		headers.Value())
	if req.Body != "" {
		b.Set("body", engine.String(req.Body))
	}
	if req.Proxy != "" {
		b.Set("proxy", engine.String(req.Proxy))
	}
	if req.SecretMark != "" {
		b.Set("secret_mark", engine.String(req.SecretMark))
	}
	if req.Timeout > 0 {
		b.Set("timeout", engine.Int(req.Timeout.Milliseconds()))
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, req.Timeout)
		defer stop()
	}
	v, err := r.once(ctx, "fetch", b.Value())
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%s %s: no answer within %s: %w", req.Method, req.URL,
			req.Timeout.Round(time.Millisecond), err)
	}
	if err != nil {
		return nil, err
	}
	return responseOf(v)
}

func responseOf(v engine.Value) (*engine.HTTPResponse, error) {
	status, _ := v.Get("status").Int()
	res := &engine.HTTPResponse{Status: int(status), Body: v.Get("body").Str()}
	for name, value := range v.Get("headers").Fields() {
		res.Header = append(res.Header, engine.HTTPHeader{Name: name, Value: value.Text()})
	}
	if v.Get("encoding").Str() == "base64" {
		body, err := base64.StdEncoding.DecodeString(res.Body)
		if err != nil {
			return nil, fmt.Errorf("fetch: body: %w", err)
		}
		res.Body = string(body)
	}
	return res, nil
}

type code struct{ *run }

// RunCode runs a script. An exception of the script (code "code") is its result; any other error is
// the host's.
func (r code) RunCode(ctx context.Context, c *engine.CodeCall) (engine.CodeResult, error) {
	request := engine.Object("lang", c.Language, "script", c.Script, "arguments", c.Arguments)
	if c.Language == "python" { // its integers have any number of digits
		request = request.With("arguments_json", engine.String(c.Arguments.JSON()))
	}
	v, err := r.once(ctx, "code", request)
	var thrown *failure
	if errors.As(err, &thrown) && thrown.code == "code" {
		return engine.CodeResult{Stderr: thrown.text}, nil
	}
	res := engine.CodeResult{Value: v.Get("result"), Stdout: v.Get("stdout").Str(), Stderr: v.Get("stderr").Str()}
	for _, a := range v.Get("artifacts").Elements() {
		res.Artifacts = append(res.Artifacts, a)
	}
	if text := v.Get("result_json").Str(); text != "" && err == nil {
		res.Value, err = engine.ParseJSONText(text)
	}
	return res, err
}

type mcp struct{ *run }

// ListTools returns the tools of a server.
func (r mcp) ListTools(ctx context.Context, server *engine.MCPServer) ([]engine.ToolDef, error) {
	v, err := r.once(ctx, "mcp", mcpRequest("list", server).Value())
	var defs []engine.ToolDef
	for _, t := range v.Get("tools").Elements() {
		defs = append(defs, engine.ToolDef{
			Name: t.Get("name").Str(), Description: t.Get("description").Str(), Parameters: t.Get("parameters"),
		})
	}
	return defs, err
}

// CallTool returns a tool's answer.
func (r mcp) CallTool(ctx context.Context, server *engine.MCPServer, name string, arguments engine.Value) (
	engine.ToolAnswer, error,
) {
	request := mcpRequest("call", server).Set("name", engine.String(name)).Set("arguments", arguments)
	v, err := r.once(ctx, "mcp", request.Value())
	return engine.ToolAnswer{Result: engine.String(v.Get("text").Text()), Files: v.Get("files").Slice()}, err
}

// mcpRequest returns a request to a server, without the headers of its node: a page has no secrets.
func mcpRequest(op string, server *engine.MCPServer) *engine.ObjectBuilder {
	b := engine.NewObject(6).Set("op", engine.String(op)).Set("server", engine.String(server.ID))
	if server.URL != "" {
		b.Set("url", engine.String(server.URL))
	}
	return b
}

type canvases struct{ *run }

// Canvas finds a canvas that a node runs.
func (c canvases) Canvas(ctx context.Context, q engine.CanvasQuery) (sub engine.SubCanvas, err error) {
	v, err := c.once(ctx, "canvas", engine.Object("canvas", q.ID, "version", q.Version))
	if err == nil {
		sub.Canvas, err = c.b.parse(v.Get("dsl").Str())
	}
	return sub, err
}

type memory struct{ *run }

// Remember keeps one exchange.
func (r memory) Remember(ctx context.Context, m *engine.Remembered) error {
	_, err := r.once(ctx, "memory", engine.Object(
		"memory_ids", m.MemoryIDs, "user_id", m.UserID, "agent_id", m.AgentID, "session_id", m.SessionID,
		"user_input", m.UserInput, "agent_response", m.AgentResponse))
	return err
}

type secrets struct{ *run }

// Secret resolves a name.
func (r secrets) Secret(ctx context.Context, name string) (engine.Secret, error) {
	v, err := r.once(ctx, "secret", engine.Object("name", name))
	return engine.Secret{Value: v.Get("value").Str()}, err
}
