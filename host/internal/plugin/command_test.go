package plugin

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

var commandEntry = map[string]any{
	"state": "none", "entry": map[string]any{"export": "_start"}, "outputs": map[string]any{
		"type": "object", "properties": map[string]any{"output": map[string]any{"type": "string"}},
	},
}

// runCommand calls a command with an input.
func runCommand(m *Module, input string) (Answer, error) {
	return m.Invoke(context.Background(), Invocation{Params: engine.Object("input", input)})
}

// A program reads its input from stdin, writes its output to stdout, and ends by returning or by
// proc_exit. No two calls share an instance.
func TestCommandStreams(t *testing.T) {
	for _, p := range wattest.Programs() {
		both(t, p.Name, func(t *testing.T, o LoadOptions) {
			m, err := newHost(t, Config{}).Load(context.Background(), pack(t, wattest.Must(p.Text), commandEntry), o)
			require.NoError(t, err)
			for range 2 {
				got, err := runCommand(m, p.Input)
				if p.Code != "" {
					require.ErrorIs(t, err, contract.Code(p.Code))
					require.ErrorContains(t, err, p.Output)
					require.NotContains(t, err.Error(), "\x1b")
					continue
				}
				require.NoError(t, err)
				require.Equal(t, p.Output, got.Outputs.Get("output").Str())
			}
			require.Zero(t, m.pool.idleCount())
			require.Zero(t, m.host.alive.Load())
		})
	}
}

// Lines of stderr are log lines of the call, within the limits of those; the last one is the reason
// of a failure however many there are.
func TestCommandStderr(t *testing.T) {
	m := load(t, newHost(t, Config{}), wattest.NewProgram("line \\1b]0;x\\0a", `(local $i i32)
		loop $l i32.const 100 i32.const 11 call $err
			local.get $i i32.const 1 i32.add local.tee $i i32.const 20000 i32.lt_u br_if $l end
		i32.const 100 i32.const 4 call $err i32.const 100 i32.const 4 call $err
		i32.const 1 call $exit`), commandEntry)
	answer, err := runCommand(m, "")
	require.ErrorIs(t, err, contract.Exit)
	require.ErrorContains(t, err, "lineline")
	require.Len(t, answer.Logs, maxLogs)
	require.Equal(t, LogLine{Level: "info", Text: `line <U+001B>]0;x`}, answer.Logs[0])

	endless := load(t, newHost(t, Config{}), wattest.NewProgram("", `(local $i i32)
		loop $l i32.const 1000 i32.const 65536 call $err
			local.get $i i32.const 1 i32.add local.tee $i i32.const 1000 i32.lt_u br_if $l end
		i32.const 1 call $exit`), commandEntry)
	answer, err = runCommand(endless, "") // one line of 64 MB
	require.ErrorIs(t, err, contract.Exit)
	require.LessOrEqual(t, len(err.Error()), 2*maxStderr)
	require.Len(t, answer.Logs, 1)
	require.LessOrEqual(t, len(answer.Logs[0].Text), maxLogBytes)
}

// A program is limited as every plugin is: output, memory, work and time.
func TestCommandLimits(t *testing.T) {
	h := newHost(t, Config{})
	forever := "loop $l i32.const 1000 i32.const 4096 call $out br $l end"
	for want, c := range map[contract.Code]struct {
		body   string
		limits map[string]any
	}{
		contract.OutputTooLarge: {forever, nil},
		contract.OutOfFuel:      {"loop $l br $l end", map[string]any{"fuel": 1_000_000}},
		contract.OutOfMemory: {
			"loop $l i32.const 16 memory.grow i32.const 0 i32.ge_s br_if $l end unreachable",
			map[string]any{"memory_mb": 8},
		},
	} {
		fields := map[string]any{"limits": c.limits}
		for k, v := range commandEntry {
			fields[k] = v
		}
		_, err := runCommand(load(t, h, wattest.NewProgram("", c.body), fields), "")
		require.ErrorIs(t, err, want)
	}
	m := load(t, h, wattest.NewProgram("", "loop $l i32.const 1000 i32.const 0 call $out br $l end"), commandEntry)
	_, err := m.Invoke(context.Background(), Invocation{CallRequest: CallRequest{Timeout: 50 * time.Millisecond}})
	require.True(t, errors.Is(err, contract.Timeout) || errors.Is(err, contract.OutOfFuel), err)
}

// Only what the manifest names as a command may be called by the name _start.
func TestCommandIsDeclared(t *testing.T) {
	m := load(t, newHost(t, Config{}), `(module (func (export "_start"))
		(func (export "easel_invoke") (result i32) i32.const 0))`, nil)
	_, err := m.Call(context.Background(), CallRequest{Export: "_start"})
	require.ErrorIs(t, err, contract.UnknownExport)
	_, err = newHost(t, Config{}).Load(context.Background(), pack(t, wattest.Must(`(module
		(func (export "_start") (param i32)))`), commandEntry), LoadOptions{})
	require.ErrorContains(t, err, "manifest names the entry _start, but no function without arguments")
}

// TestGoCommand runs an ordinary Go program.
func TestGoCommand(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(`package main

import ("bufio"; "fmt"; "os"; "strings")

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if in.Text() == "boom" { panic("it went boom") }
		fmt.Println(strings.ToUpper(in.Text()))
	}
}
`), 0o600))
	out := filepath.Join(dir, "upper.wasm")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", out, "main.go")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GO111MODULE=off")
	msg, err := cmd.CombinedOutput()
	require.NoError(t, err, string(msg))
	wasm, err := os.ReadFile(out)
	require.NoError(t, err)
	m, err := newHost(t, Config{}).Load(context.Background(), pack(t, wasm, commandEntry), LoadOptions{})
	require.NoError(t, err)
	for range 2 {
		got, err := runCommand(m, "ab\ncd\n")
		require.NoError(t, err)
		require.Equal(t, "AB\nCD\n", got.Outputs.Get("output").Str())
	}
	_, err = runCommand(m, "ab\nboom\n")
	require.ErrorIs(t, err, contract.Exit)
	require.ErrorContains(t, err, "panic: it went boom")
}
