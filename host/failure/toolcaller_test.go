package failure_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// toolCaller is a chat model that calls every function that it is offered once, with arguments made
// of the function's schema, and then answers. It follows the conversation of each request, so one
// caller serves any number of agents.
type toolCaller struct {
	// text is the answer after every function was called; nil means "done".
	text func(asked *chatRequest) string
	// argument returns the value of a string argument; nil uses the name of the argument.
	argument func(function, name string) string
}

// chatRequest is a request of chat completions, as far as doubles read it.
type chatRequest struct {
	Stream   bool
	Messages []struct {
		Role      string
		Content   chatText
		ToolCalls []struct {
			Function struct{ Name string }
		} `json:"tool_calls"`
	}
	Tools []struct {
		Function struct {
			Name       string
			Parameters json.RawMessage
		}
	}
}

// chatText is the text of a message, which may be a list of parts: texts and images.
type chatText string

func (c *chatText) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = chatText(text)
		return nil
	}
	var parts []struct{ Text string }
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		*c += chatText(p.Text)
	}
	return nil
}

func (c *toolCaller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked chatRequest
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.serve(w, &asked)
}

// serve answers one request, in one piece.
func (c *toolCaller) serve(w http.ResponseWriter, asked *chatRequest) {
	message, finish := engine.Object("role", "assistant"), "stop"
	if calls := c.calls(asked); calls.Len() > 0 {
		message, finish = message.With("tool_calls", calls), "tool_calls"
	} else {
		text := "done"
		if c.text != nil {
			text = c.text(asked)
		}
		message = message.With("content", engine.String(text))
	}
	if !asked.Stream {
		w.Header().Set("Content-Type", "application/json")
		choice := engine.Object("index", 0, "message", message, "finish_reason", finish)
		_, _ = io.WriteString(w, engine.Object("choices", engine.List(choice)).JSON()) // the host may be gone
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []engine.Value{
		engine.Object("index", 0, "delta", message),
		engine.Object("index", 0, "delta", engine.Object(), "finish_reason", finish),
	} {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", engine.Object("choices", engine.List(choice)).JSON())
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// calls returns the functions of a request that were not called yet.
func (c *toolCaller) calls(asked *chatRequest) engine.Value {
	var called []string
	for _, m := range asked.Messages {
		for _, call := range m.ToolCalls {
			called = append(called, call.Function.Name)
		}
	}
	list := engine.List()
	for i, tool := range asked.Tools {
		name := tool.Function.Name
		if slices.Contains(called, name) {
			continue
		}
		schema, err := engine.ParseJSON(tool.Function.Parameters)
		if err != nil {
			schema = engine.Null
		}
		list = list.Append(engine.Object("index", list.Len(), "id", fmt.Sprintf("call_%d", i), "type", "function",
			"function", engine.Object("name", name, "arguments", c.sample(name, "", schema).JSON())))
	}
	return list
}

// sample returns a value that matches a schema: every declared member of an object, the first word
// of an enumeration, the default where there is one.
func (c *toolCaller) sample(function, name string, schema engine.Value) engine.Value {
	if def := schema.Get("default"); def.Truthy() {
		return def
	}
	if enum := schema.Get("enum"); enum.Len() > 0 {
		return enum.At(0)
	}
	typ := schema.Get("type").Str()
	if typ == "" {
		typ = schema.Get("type").At(0).Str()
	}
	switch typ {
	case "integer", "number":
		return engine.Int(1)
	case "boolean":
		return engine.Bool(true)
	case "array":
		return engine.List(c.sample(function, name, schema.Get("items")))
	case "object", "":
		b := engine.NewObject(4)
		for member, inner := range schema.Get("properties").Fields() {
			b.Set(member, c.sample(function, member, inner))
		}
		return b.Value()
	}
	if c.argument == nil {
		return engine.String(name)
	}
	return engine.String(c.argument(function, name))
}
