package plugin

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// TestPluginLog writes what a plugin logs to the log of the host, with its level and its call.
func TestPluginLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo}))
	h := newHost(t, Config{PluginLog: log})
	m := load(t, h, "(module"+importAll+`(data (i32.const 0) "hi\n\1b[2J mark0 {\"outputs\":{}}")
		(func (export "easel_invoke") (result i32)
			i32.const 3 i32.const 0 i32.const 13 call $log
			i32.const 1 i32.const 0 i32.const 2 call $log
			i32.const 14 i32.const 14 call $output_write i32.const 0))`, nil)
	in := Invocation{ID: "r1/2/3", Node: "Sample:0", Params: engine.Object()}
	in.Run, in.Tenant = "r1", "acme"
	_, err := m.Invoke(t.Context(), in)
	require.NoError(t, err)
	line := out.String()
	require.Equal(t, 1, strings.Count(line, "\n"), "one line at the level warn; debug is below the level of the log")
	for _, want := range []string{
		"level=WARN", `msg="plugin log"`, "plugin=sample", "node=Sample:0", "call=r1/2/3", "run=r1", "tenant=acme",
		`text="hi\n<U+001B>[2J mark0`,
	} {
		require.Contains(t, line, want)
	}
}
