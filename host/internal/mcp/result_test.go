package mcp

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// answers returns a port to a server "a" whose tool "show" has this answer.
func answers(t *testing.T, content []sdk.Content) *Port {
	t.Helper()
	c := &Client{}
	t.Cleanup(c.Close)
	url := answering(t, &atomic.Pointer[http.Header]{}, func() *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: content}
	})
	s := Server{ID: "a", Name: "test", Type: TypeStreamable, URL: url}
	return &Port{Client: c, Owner: "run", Find: Set{"a": s}.Find}
}

// Images and blobs of a result are stored under names with an extension; what cannot be stored is
// named in the text.
func TestFilesOfResults(t *testing.T) {
	content := []sdk.Content{
		&sdk.TextContent{Text: "see"},
		&sdk.ImageContent{MIMEType: "image/PNG; x=y", Data: []byte("png")},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
			URI: "file:///tmp/a%20b.pdf?x", MIMEType: "application/pdf", Blob: []byte("pdf"),
		}},
		&sdk.AudioContent{MIMEType: "audio/mpeg", Data: []byte("mp3")},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "x:y", Text: "a text"}},
		&sdk.EmbeddedResource{},
	}
	saved := map[string]string{}
	port := answers(t, content)
	port.Save = func(_ context.Context, name, format string, data []byte) (engine.Value, error) {
		if format == "mp3" {
			return engine.Null, errors.New("too large")
		}
		saved[name] = string(data)
		return engine.Object("doc_id", "id of "+name), nil
	}
	answer, err := port.CallTool(t.Context(), ref("a"), "show", engine.Null)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"image-1.png": "png", "a b.pdf": "pdf"}, saved)
	require.Equal(t, "see\na text\n[audio-3.mp3 left out: too large]", answer.Result.Str())
	require.JSONEq(t, `[{"name": "image-1.png", "mime_type": "image/png", "size": 3, "doc_id": "id of image-1.png"},
		{"name": "a b.pdf", "mime_type": "application/pdf", "size": 3, "doc_id": "id of a b.pdf"}]`,
		engine.List(answer.Files...).JSON())

	port.Save = nil
	answer, err = port.CallTool(t.Context(), ref("a"), "show", engine.Null)
	require.NoError(t, err)
	require.Empty(t, answer.Files)
	require.Contains(t, answer.Result.Str(), "[image-1.png left out: files are not available here]")
}

// A result may have a bounded number of files.
func TestFilesOfResultsAreBounded(t *testing.T) {
	var content []sdk.Content
	for range maxFiles + 2 {
		content = append(content, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("png")})
	}
	port := answers(t, content)
	port.Save = func(context.Context, string, string, []byte) (engine.Value, error) {
		return engine.Object("doc_id", "x"), nil
	}
	answer, err := port.CallTool(t.Context(), ref("a"), "show", engine.Null)
	require.NoError(t, err)
	require.Len(t, answer.Files, maxFiles)
	require.Contains(t, answer.Result.Str(), "[image-18.png left out: a result may have 16 files]")
}

// Credentials that a configuration or a node has as they are, without a name, are removed from
// results, errors and lists as well. Other headers stay.
func TestCredentialsInResults(t *testing.T) {
	seen := &atomic.Pointer[http.Header]{}
	c := &Client{}
	t.Cleanup(c.Close)
	url := answering(t, seen, func() *sdk.CallToolResult {
		h := seen.Load()
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{
			Text: h.Get("Authorization") + " " + h.Get("X-Api-Key") + " " + h.Get("X-Region") + " " +
				h.Get("X-Node-Token"),
		}}}
	})
	s := Server{ID: "a", Name: "test", Type: TypeStreamable, URL: url, Values: map[string]string{"token": "sesame-123"}}
	s.Headers = map[string]string{
		"Authorization": "Bearer ${token}", "X-Api-Key": "barley-456", "X-Region": "eu-central-1",
	}
	port := &Port{Client: c, Owner: "run", Find: Set{"a": s}.Find, Secrets: secrets{}}
	of := ref("a")
	of.Header = []engine.HTTPHeader{{Name: "X-Node-Token", Value: "millet-789"}}
	answer, err := port.CallTool(t.Context(), of, "show", engine.Null)
	require.NoError(t, err)
	require.Equal(t, "Bearer sesame-123", seen.Load().Get("Authorization"))
	require.Equal(t, "*** *** eu-central-1 ***", answer.Result.Str())
}

// Values of secrets are hidden in files and their names too.
func TestSecretsInFilesOfResults(t *testing.T) {
	const hush = "sesame-123"
	seen := &atomic.Pointer[http.Header]{}
	c := &Client{}
	t.Cleanup(c.Close)
	url := answering(t, seen, func() *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: hush},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
				URI: "file:///" + hush + ".txt", MIMEType: "text/plain", Blob: []byte("key " + hush),
			}},
			&sdk.ImageContent{MIMEType: "image/" + hush, Data: []byte("png")},
		}}
	})
	s := Server{ID: "a", Name: "test", Type: TypeStreamable, URL: url}
	s.Headers = map[string]string{"X-Key": "{{secret:KEY}}"}
	port := &Port{Client: c, Owner: "run", Find: Set{"a": s}.Find, Secrets: secrets{}}
	saved := ""
	port.Save = func(_ context.Context, name, format string, data []byte) (engine.Value, error) {
		saved += name + format + string(data)
		return engine.Object("doc_id", "x"), nil
	}
	answer, err := port.CallTool(t.Context(), ref("a"), "show", engine.Null)
	require.NoError(t, err)
	require.Equal(t, hush, seen.Load().Get("X-Key"))
	require.NotContains(t, answer.Result.Str(), hush)
	require.NotContains(t, answer.Value().JSON(), hush)
	require.NotContains(t, saved, hush)
}
