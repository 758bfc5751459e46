package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverError is the prefix of errors reported by a server.
const serverError = "MCP server error: "

// refusal returns the message of a JSON-RPC error response, such as for an unknown tool or invalid
// arguments. It is a failure of the tool, not of the connection.
func refusal(err error) (text string, ok bool) {
	var answer *jsonrpc.Error
	if !errors.As(err, &answer) {
		return "", false
	}
	switch answer.Code {
	case jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound, jsonrpc.CodeInternalError:
		return limited(answer.Message), true
	}
	return "", false
}

// textOf converts a result to text: its text parts, a placeholder for each other part, and the
// structured content if there are no parts.
func textOf(res *sdk.CallToolResult) string {
	var parts []string
	for _, part := range res.Content {
		switch p := part.(type) {
		case *sdk.TextContent:
			parts = append(parts, p.Text)
		case *sdk.ImageContent:
			parts = append(parts, "[image "+p.MIMEType+"]")
		case *sdk.AudioContent:
			parts = append(parts, "[audio "+p.MIMEType+"]")
		case *sdk.ResourceLink:
			parts = append(parts, p.URI)
		case *sdk.EmbeddedResource:
			if p.Resource != nil {
				parts = append(parts, p.Resource.Text)
			}
		}
	}
	if len(parts) == 0 && res.StructuredContent != nil {
		if text, err := json.Marshal(res.StructuredContent); err == nil {
			parts = append(parts, string(text))
		}
	}
	text := limited(strings.Join(parts, "\n"))
	if res.IsError {
		return serverError + text
	}
	return text
}

// maxResult bounds the text of a result. A model cannot read more, and the whole text would be part
// of every later model call.
const maxResult = 1 << 20

// limited cuts a text that exceeds maxResult and marks the cut at its end.
func limited(text string) string {
	if len(text) <= maxResult {
		return text
	}
	end := maxResult
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + fmt.Sprintf("\n[cut: the result has %d bytes, the limit is %d]", len(text), maxResult)
}
