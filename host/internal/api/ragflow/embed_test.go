package ragflow

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestEmbeddedTraceIsBare(t *testing.T) {
	full := engine.List(engine.Object("component_id", "Agent:A", "trace", engine.List(
		engine.Object("path", "Agent-->Search", "tool_name", "search", "arguments", engine.Object("q", "PRIVATE"), "result", "PRIVATE", "elapsed_time", 1))))
	bare := bareTrace(full)
	require.NotContains(t, bare.JSON(), "PRIVATE")
	entry := bare.At(0).Get("trace").At(0)
	require.Equal(t, "search", entry.Get("tool_name").Str())
	require.True(t, strings.Contains(entry.JSON(), `"elapsed_time":1`))
}
