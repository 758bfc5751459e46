package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestMCPToolCall(t *testing.T) {
	args, err := engine.ParseJSONText(`{"city":"Oslo"}`)
	require.NoError(t, err)
	params, err := engine.ParseJSONText(`{"city":"Rome","units":"c"}`)
	require.NoError(t, err)
	for form, want := range map[Form]string{
		FormMCP:  `{"request":{"name":"now","arguments":{"city":"Oslo","units":"c"}},"context":{"id":"c1","_meta":{}}}`,
		FormMCP1: `{"params":{"name":"now","arguments":{"city":"Oslo","units":"c"}}}`,
	} {
		m := entryManifest(t, `{"export":"call_tool","input":"`+string(form)+`","output":"mcp","tool":"now"}`,
			`{"text":{"type":"string"}}`)
		got, err := m.Message(CallInfo{ID: "c1"}, params, args)
		require.NoError(t, err)
		require.JSONEq(t, want, string(got))
	}
	_, err = ParseManifest([]byte(`{"abi":1,"name":"a","version":"1.0.0","description":"d",
		"entry":{"export":"call_tool","input":"mcp","output":"mcp"}}`))
	require.ErrorContains(t, err, "entry.tool is missing")
}

func TestMCPToolResult(t *testing.T) {
	m := entryManifest(t, `{"export":"call_tool","input":"mcp","output":"mcp","tool":"now"}`,
		`{"text":{"type":"string"}}`)
	for raw, want := range map[string]string{
		`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`: `{"text":"a\nb"}`,
		`{"content":[{"type":"image","data":"eA==","mimeType":"image/png"}]}`: `{"text":"",
			"content":[{"type":"image","data":"eA==","mimeType":"image/png"}]}`,
		`{"content":[],"structuredContent":{"n":1.0},"isError":false}`: `{"text":"","structured":{"n":1.0}}`,
	} {
		got, err := m.ReadOutput([]byte(raw))
		require.NoError(t, err)
		require.JSONEq(t, want, got.Outputs.JSON())
	}
	_, err := m.ReadOutput([]byte(`{"isError":true,"content":[{"type":"text","text":"no such city"}]}`))
	require.ErrorIs(t, err, Internal)
	require.ErrorContains(t, err, "no such city")
	for _, raw := range []string{`"text"`, `[]`, `{`} {
		_, err := m.ReadOutput([]byte(raw))
		require.ErrorIs(t, err, BadOutput, raw)
	}
}
