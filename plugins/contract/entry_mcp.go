package contract

import "github.com/easel-canvas/easel/engine"

// Modules such as those of hyper-mcp export list_tools and call_tool, or describe and call, with
// messages of the Model Context Protocol. `easel plugin adapt --mcp` makes a plugin of each tool.

// toolCall returns the message of a call of the entry's tool.
func (e *Entry) toolCall(c CallInfo, arguments engine.Value) engine.Value {
	request := engine.Object("name", e.Tool, "arguments", arguments)
	if e.Input == FormMCP1 {
		return engine.Object("params", request)
	}
	return engine.Object("request", request, "context", engine.Object("id", c.ID, "_meta", engine.Object()))
}

// readToolResult returns the outputs of an MCP tool result: text, the texts of its content line by
// line; content, the parts that are not text; structured, the structured content. A result with
// isError is an error with the code Internal.
func readToolResult(v engine.Value) (engine.Value, error) {
	if v.Kind() != engine.KindObject {
		return engine.Null, Errorf(BadOutput, "output: want the result of a tool, got %s", typeName(v))
	}
	text, others := "", engine.List()
	content := v.Get("content")
	for i := range content.Len() {
		part := content.At(i)
		if t := part.Get("text"); t.Kind() == engine.KindString && part.Get("type").Str() == "text" {
			if text != "" {
				text += "\n"
			}
			text += t.Str()
			continue
		}
		others = others.Append(part)
	}
	if v.Get("isError").True() {
		return engine.Null, &Error{Code: Internal, Message: text}
	}
	out := engine.Object("text", text)
	if others.Len() > 0 {
		out = out.With("content", others)
	}
	if s := v.Get("structuredContent"); !s.IsNull() {
		out = out.With("structured", s)
	}
	return out, nil
}
