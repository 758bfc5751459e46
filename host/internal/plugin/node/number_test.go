package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
)

// TestNumbersKeepTheirDigits has numbers beyond float64 reach a plugin, and come back, as they were
// written: pinned in the canvas, resolved from a reference, and made by the plugin.
func TestNumbersKeepTheirDigits(t *testing.T) {
	const numbers = `{"type": "array", "items": {"type": "number"}}`
	const big = `[9007199254740993, -9223372036854775808, 123456789012345678901234567890, 1e400, 1.0,
		0.1000000000000000055511151231257827]`
	s := newShop(t, node.Config{})
	s.add(mirror, `{"params": {"type": "object", "properties": {"fixed": `+numbers+`}},
		"arguments": {"type": "object", "properties": {"list": `+numbers+`, "whole": {"type": "integer"}}}}`)
	got := s.play(t.Context(), engine.Ports{}, "begin Begin -> P",
		`P plugin:sample@1 {"fixed": `+big+`, "list": "{env.list}", "whole": "9007199254740993"}`, `=env.list `+big)
	require.NoError(t, got.err)
	want, err := engine.ParseJSONText(big)
	require.NoError(t, err)
	out := got.outputs["P"]
	require.Equal(t, want.JSON(), out.Get("params").Get("fixed").JSON())
	require.Equal(t, want.JSON(), out.Get("arguments").Get("list").JSON())
	require.Equal(t, "9007199254740993", out.Get("arguments").Get("whole").JSON())
}
