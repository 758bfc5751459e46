package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
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

// result is the result of a tool.
type result struct {
	text  string
	files []file
}

// file is an image or another file in a result.
type file struct {
	name     string // of its resource; "" is none
	mimeType string
	data     []byte
}

// maxFiles bounds the files of a result.
const maxFiles = 16

var errNoFiles = errors.New("files are not available here")

// leaveOut adds to the text that file i is not stored.
func (r *result) leaveOut(i int, why error) {
	note := fmt.Sprintf("[%s left out: %v]", r.files[i].named(i), why)
	r.text = strings.TrimPrefix(r.text+"\n"+note, "\n")
}

// extensions of common types; the name of a file without a type has none.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "audio/wav": ".wav",
	"audio/mpeg": ".mp3", "application/pdf": ".pdf", "application/json": ".json", "text/csv": ".csv",
	"text/plain": ".txt",
}

// named returns the name of file i of a result.
func (f *file) named(i int) string {
	if f.name != "" {
		return f.name
	}
	kind, _, _ := strings.Cut(f.mimeType, "/")
	if kind != "image" && kind != "audio" {
		kind = "file"
	}
	return kind + "-" + strconv.Itoa(i+1) + extensions[f.mimeType]
}

// resultOf reads a result: its text parts, its files, and the structured content if there are no
// parts.
func resultOf(res *sdk.CallToolResult) (r result) {
	var parts []string
	add := func(name, mimeType string, data []byte) {
		mimeType, _, _ = strings.Cut(strings.ToLower(mimeType), ";")
		r.files = append(r.files, file{name, strings.TrimSpace(mimeType), data})
	}
	for _, part := range res.Content {
		switch p := part.(type) {
		case *sdk.TextContent:
			parts = append(parts, p.Text)
		case *sdk.ImageContent:
			add("", p.MIMEType, p.Data)
		case *sdk.AudioContent:
			add("", p.MIMEType, p.Data)
		case *sdk.ResourceLink:
			parts = append(parts, p.URI)
		case *sdk.EmbeddedResource:
			if blob := p.Resource; blob != nil && len(blob.Blob) > 0 {
				add(baseName(blob.URI), blob.MIMEType, blob.Blob)
			} else if blob != nil {
				parts = append(parts, blob.Text)
			}
		}
	}
	if len(parts)+len(r.files) == 0 && res.StructuredContent != nil {
		if text, err := json.Marshal(res.StructuredContent); err == nil {
			parts = append(parts, string(text))
		}
	}
	r.text = limited(strings.Join(parts, "\n"))
	if res.IsError {
		r.text = serverError + r.text
	}
	return r
}

// baseName returns the last part of the path of an address; "" if it has none.
func baseName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if name := path.Base(u.Path); name != "." && name != "/" {
		return name
	}
	return ""
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
