package plugin

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// The notifications of hyper-mcp become progress and log lines, or have no effect; requests to a
// client are refused by name.
func TestNotificationsOfHyperMCP(t *testing.T) {
	m, err := newHost(t, Config{}).Load(t.Context(), pack(t, wattest.Must(`(module
		(import "extism:host/user" "notify_progress" (func $progress (param i64)))
		(import "extism:host/user" "notify_logging_message" (func $message (param i64)))
		(import "extism:host/user" "notify_resource_updated" (func $updated (param i64)))
		(import "extism:host/user" "notify_prompt_list_changed" (func $prompts))
		(import "extism:host/user" "notify_resource_list_changed" (func $resources))
		(import "extism:host/user" "notify_tool_list_changed" (func $tools))`+importKernel+`
		(func (export "progress") (result i32) call $input_offset call $progress i32.const 0)
		(func (export "message") (result i32) call $input_offset call $message i32.const 0)
		(func (export "others") (result i32)
			call $input_offset call $updated call $prompts call $resources call $tools i32.const 0))`),
		map[string]any{"entry": map[string]any{"export": "others"}}), LoadOptions{})
	require.NoError(t, err)
	var emitted []contract.Emission
	call := func(export, input string) []LogLine {
		res, err := m.Call(t.Context(), CallRequest{
			Export: export, Input: []byte(input),
			Emit: func(_ context.Context, e contract.Emission) error { emitted = append(emitted, e); return nil },
		})
		require.NoError(t, err)
		return res.Logs
	}
	for input, want := range map[string]contract.Emission{
		`{"progressToken":"t","progress":1,"total":3,"message":"a third"}`: {Kind: 3, Pct: 33, Note: "a third"},
		`{"progressToken":1,"progress":7}`:                                 {Kind: 3},
		`{"progress":9,"total":3}`:                                         {Kind: 3, Pct: 100},
	} {
		emitted = nil
		call("progress", input)
		require.Equal(t, []contract.Emission{want}, emitted, input)
	}
	emitted = nil
	for input, want := range map[string]LogLine{
		`{"level":"warning","logger":"l","data":"look out"}`: {Level: "warn", Text: "look out"},
		`{"level":"emergency","data":{"a":[1]}}`:             {Level: "error", Text: `{"a":[1]}`},
		`plain`:                                              {Level: "info", Text: "plain"},
	} {
		require.Equal(t, []LogLine{want}, call("message", input))
	}
	require.Empty(t, call("others", `{"uri":"a"}`))
	require.Empty(t, call("progress", `{`))
	require.Empty(t, emitted)

	_, err = newHost(t, Config{}).Load(t.Context(), pack(t, wattest.Must(`(module
		(import "extism:host/user" "create_message" (func (param i64) (result i64)))
		(func (export "easel_invoke") (result i32) i32.const 0))`), nil), LoadOptions{})
	require.ErrorIs(t, err, contract.Unsupported)
	require.ErrorContains(t, err, "imports extism:host/user create_message, which this host does not offer; of this "+
		"module it offers easel_call, easel_emit, notify_logging_message, notify_progress,")
}
