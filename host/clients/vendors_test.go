//go:build soak

package clients

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

// The vendors' own clients know every member of the requests that are sent to their APIs. Building
// them takes two minutes of processor time, so it is no part of the tests of each change.
func TestVendorsKnowTheRequests(t *testing.T) {
	requests := map[string][]json.RawMessage{}
	for _, api := range []string{"anthropic", "gemini", "responses"} {
		requests[api] = requestsOf(t, modeltest.FormOf(api))
	}
	file := buildClient(t, "vendorsdk")
	body, err := json.Marshal(requests)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), file)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(body), os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	require.JSONEq(t, "[]", string(out))
}

// requestsOf returns the bodies of requests that have everything a model call can hold.
func requestsOf(t *testing.T, form modeltest.Form) (bodies []json.RawMessage) {
	t.Helper()
	server := modeltest.NewVendor(form, modeltest.Saying(modeltest.Reply{
		Thought: "hm", Signature: "c2lnbmVk", Redacted: "aGlkZGVu", Text: "I look.",
		Calls: []modeltest.Call{{Name: "look", Arguments: `{"q":"a"}`}, {Name: "look", Arguments: `{"q":"b"}`}},
	}))
	defer server.Close()
	models, err := model.New(model.Config{Providers: []model.Provider{{
		Name: "P", API: model.API(form.Name), BaseURL: server.BaseURL(), Key: "k", Models: []model.Entry{{Name: "m"}},
	}}})
	require.NoError(t, err)
	half, most := 0.5, 5000
	tools := []engine.ToolDef{{
		Name: "look", Description: "looks", Parameters: engine.Object("type", "object", "properties",
			engine.Object("q", engine.Object("type", "string", "enum", engine.Strings("a", "b"))), "required",
			engine.Strings("q")),
	}}
	schema := engine.Object("type", "object", "properties", engine.Object("n", engine.Object("type", "number")),
		"required", engine.Strings("n"))
	user := engine.ModelMessage{Role: "user", Content: "what?", Images: []string{"data:image/png;base64,aW1hZ2U="}}
	ask := func(req *engine.ModelRequest) (asked engine.ModelMessage) {
		asked.Role = "assistant"
		req.LLM, req.System = "m", "Be short."
		for piece, err := range models.Generate(t.Context(), req) {
			require.NoError(t, err)
			asked.ToolCalls = append(asked.ToolCalls, piece.ToolCalls...)
			if !piece.Opaque.IsNull() {
				asked.Opaque = piece.Opaque
			}
		}
		return asked
	}
	for _, config := range []engine.ModelConfig{
		{},
		{Temperature: &half, TopP: &half, MaxTokens: &most, Stop: []string{"|"}},
		{Thinking: "high"},
		{Thinking: "off"},
	} {
		for _, stream := range []bool{true, false} {
			asked := ask(&engine.ModelRequest{
				Messages: []engine.ModelMessage{user}, Config: config, Tools: tools, Stream: stream,
			})
			require.Len(t, asked.ToolCalls, 2)
			ask(&engine.ModelRequest{Config: config, Tools: tools, Stream: stream, Messages: []engine.ModelMessage{
				user, asked,
				{Role: "tool", ToolID: asked.ToolCalls[0].ID, Content: "seen"},
				{Role: "tool", ToolID: asked.ToolCalls[1].ID, Content: "not seen"},
				user,
			}})
			ask(&engine.ModelRequest{
				Messages: []engine.ModelMessage{user}, Config: config, Stream: stream,
				Purpose: engine.PurposeStructured, Schema: schema,
			})
		}
	}
	require.Empty(t, server.Faults())
	for _, r := range server.Requests() {
		bodies = append(bodies, json.RawMessage(r.Raw))
	}
	return bodies
}
