package mcp

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// modeVariable makes the test program an MCP server over stdio.
const modeVariable = "EASEL_TEST_MCP"

// patience is longer than anything takes that does not hang.
const patience = 5 * time.Minute

// testVariable names the test that started a server.
const testVariable = "EASEL_TEST_NAME"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		runServer(mode)
		return
	}
	os.Exit(m.Run())
}

// runServer is a server over stdio: a real one, or one that misbehaves from the start.
func runServer(mode string) {
	switch mode {
	case "silent":
		select {}
	case "garbage":
		fmt.Println("Starting server ...")
		select {}
	case "line without end":
		for {
			_, _ = os.Stdout.WriteString(strings.Repeat("x", 1<<20))
		}
	case "notifications without end":
		out := bufio.NewWriterSize(os.Stdout, 1<<20)
		for {
			const start = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"`
			_, _ = out.WriteString(start +
				strings.Repeat("x", 1<<16) + `"}}` + "\n")
		}
	case "ignores discover":
		serveIgnoringDiscover(os.Stdin, os.Stdout)
		return
	case "exits":
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "stdio", Version: "1"}, nil)
	for name, tool := range stdioTools {
		sdk.AddTool(s, &sdk.Tool{Name: name}, func(_ context.Context, _ *sdk.CallToolRequest, in greeting) (
			*sdk.CallToolResult, any, error,
		) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: tool(in.Name)}}}, nil, nil
		})
	}
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
	if mode == "stays" {
		select {}
	}
}

// stdioTools are the tools of the server.
var stdioTools = map[string]func(string) string{
	"greet": func(name string) string { return "hello " + name },
	"environment": func(string) string {
		return strings.Join(append(os.Environ(), os.Args[1:]...), "\n")
	},
	"die": func(name string) string {
		_ = os.WriteFile(name, append(read(name), '.'), 0o600)
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(7)
		return ""
	},
	"hang":  func(string) string { select {} },
	"large": func(string) string { return strings.Repeat("é", maxResult) },
	// fork starts children, one of them in a separate session, and writes their ids to a file.
	"fork": func(file string) string {
		var pids []string
		for i := range 4 {
			cmd := exec.Command("sleep", "1000")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: i%2 == 0}
			if err := cmd.Start(); err != nil {
				return err.Error()
			}
			pids = append(pids, strconv.Itoa(cmd.Process.Pid))
		}
		_ = os.WriteFile(file, []byte(strings.Join(pids, " ")), 0o600)
		return "forked"
	},
	"bomb": func(string) string {
		for {
			if exec.Command("sleep", "1000").Start() != nil {
				select {}
			}
			time.Sleep(time.Millisecond)
		}
	},
	"allocate": func(string) string {
		var all [][]byte
		for {
			all = append(all, make([]byte, 8<<20))
			if len(all) > 1<<20 {
				return ""
			}
		}
	},
}

func read(name string) []byte {
	data, _ := os.ReadFile(name) // may not exist yet
	return data
}

// stdio returns a port to a server over stdio, which is ended with the test.
func stdio(t *testing.T, mode string) *Port {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	s := Server{
		ID: "a", Name: "child", Type: TypeStdio, Command: self, Args: []string{"--token=${token}"},
		Env:    map[string]string{modeVariable: mode, testVariable: t.Name(), "GREETING": "{{greeting}}"},
		Values: map[string]string{"token": "t7", "greeting": "hi"},
	}
	c := &Client{Stdio: true, ListTimeout: patience, Timeout: patience}
	t.Cleanup(func() {
		c.Close()
		require.Eventually(t, func() bool { return len(started(t)) == 0 }, patience, 5*time.Millisecond,
			"no process is left; a busy machine ends a killed one late")
	})
	return &Port{Client: c, Owner: "run", Find: func(context.Context, string) (Server, error) { return s, nil }}
}

// started returns the running processes that the servers of a test started, and they themselves.
func started(t *testing.T) (out []string) {
	t.Helper()
	for _, pid := range processes() {
		environment, err := os.ReadFile(processFile(pid, "environ"))
		if err == nil && strings.Contains(string(environment), testVariable+"="+t.Name()+"\x00") {
			out = append(out, strconv.Itoa(pid))
		}
	}
	return out
}

// awaitGone waits until no process of the client is left.
func awaitGone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		require.Eventually(t, func() bool {
			state, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
			return err != nil || strings.Contains(string(state), ") Z ")
		}, patience, 5*time.Millisecond, "process %d", pid)
	}
}

// running returns the process of the only connection.
func running(t *testing.T, c *Client) *process {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Len(t, c.conns, 1)
	for _, l := range c.conns {
		return l.process
	}
	return nil
}

func TestStdio(t *testing.T) {
	t.Setenv("EASEL_API_KEY", "secret of the host")
	port := stdio(t, "tools")
	tools, err := port.ListTools(t.Context(), ref("a"))
	require.NoError(t, err)
	require.Len(t, tools, len(stdioTools))
	text, err := textFrom(port)(t.Context(), ref("a"), "greet", engine.Object("name", "Ann"))
	require.NoError(t, err)
	require.Equal(t, "hello Ann", text)
	text, err = textFrom(port)(t.Context(), ref("a"), "greet", engine.Object("name", 7))
	require.NoError(t, err)
	require.Contains(t, text, serverError)

	text, err = textFrom(port)(t.Context(), ref("a"), "environment", engine.Object("name", ""))
	require.NoError(t, err)
	require.Contains(t, text, "GREETING=hi")
	require.Contains(t, text, "--token=t7")
	require.Contains(t, text, "PATH=")
	require.NotContains(t, text, "secret of the host", "the environment of the host stays with it")
	expected := []string{"PATH", "HOME", markVariable, modeVariable, testVariable, "GREETING", "--token"}
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(line, "=")
		require.Contains(t, expected, name)
	}

	text, err = textFrom(port)(t.Context(), ref("a"), "large", engine.Object("name", ""))
	require.NoError(t, err)
	require.Less(t, len(text), maxResult+100)
	require.Contains(t, text, "[cut: the result has 2097152 bytes, the limit is 1048576]")

	p := running(t, port.Client)
	port.Client.End("run")
	awaitGone(t, p.cmd.Process.Pid)
}

func TestStdioServerEndsWhenIdle(t *testing.T) {
	t.Parallel()
	port := stdio(t, "tools")
	port.Client.Idle = time.Millisecond
	_, err := port.CallTool(t.Context(), ref("a"), "greet", engine.Object("name", "Ann"))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		port.Client.mu.Lock()
		defer port.Client.mu.Unlock()
		return len(port.Client.conns) == 0
	}, 2*time.Minute, time.Millisecond)
	_, err = port.CallTool(t.Context(), ref("a"), "greet", engine.Object("name", "Ann"))
	require.NoError(t, err, "a server that was ended is started again")
}

// A server that misbehaves fails the call with the reason, and leaves no process behind.
func TestHostileStdioServers(t *testing.T) {
	for mode, want := range map[string]string{
		"garbage":                   "invalid character",
		"line without end":          "invalid character",
		"notifications without end": "more than 64 MB",
		"exits":                     "exit status 3: no licence found",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			port := stdio(t, mode)
			_, err := port.ListTools(t.Context(), ref("a"))
			require.ErrorIs(t, err, ErrServer)
			require.ErrorContains(t, err, want)
			port.Client.mu.Lock()
			defer port.Client.mu.Unlock()
			require.Empty(t, port.Client.conns)
		})
	}
}

func TestSilentStdioServer(t *testing.T) {
	t.Parallel()
	port := stdio(t, "silent")
	port.Client.ListTimeout = 50 * time.Millisecond
	_, err := port.ListTools(t.Context(), ref("a"))
	require.ErrorIs(t, err, ErrServer)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestStdioServerThatDies(t *testing.T) {
	t.Parallel()
	port := stdio(t, "tools")
	_, err := port.ListTools(t.Context(), ref("a"))
	require.NoError(t, err)
	calls := filepath.Join(t.TempDir(), "calls")
	_, err = port.CallTool(t.Context(), ref("a"), "die", engine.Object("name", calls))
	require.ErrorIs(t, err, ErrServer)
	require.ErrorContains(t, err, "exit status 7: out of luck")
	require.Equal(t, ".", string(read(calls)), "the call is not repeated")
	text, err := textFrom(port)(t.Context(), ref("a"), "greet", engine.Object("name", "Bo"))
	require.NoError(t, err, "the next call starts the server again")
	require.Equal(t, "hello Bo", text)
}

func TestStdioServerThatForks(t *testing.T) {
	t.Parallel()
	port := stdio(t, "stays")
	file := filepath.Join(t.TempDir(), "pids")
	_, err := port.CallTool(t.Context(), ref("a"), "fork", engine.Object("name", file))
	require.NoError(t, err)
	pids := []int{running(t, port.Client).cmd.Process.Pid}
	for _, text := range strings.Fields(string(read(file))) {
		pid, err := strconv.Atoi(text)
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	require.Len(t, pids, 5)
	port.Client.End("run")
	awaitGone(t, pids...)
}

func TestStdioServerIsLimited(t *testing.T) {
	for tool, want := range map[string]string{
		"bomb":     "it started more than 64 processes",
		"allocate": "allocate|out of memory", // of the race detector, or of Go
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			port := stdio(t, "tools")
			port.Client.Memory = 768 << 20
			_, err := port.CallTool(t.Context(), ref("a"), tool, engine.Object("name", ""))
			require.ErrorIs(t, err, ErrServer)
			require.Regexp(t, want, err.Error())
		})
	}
}

func TestStdioCallTimesOut(t *testing.T) {
	t.Parallel()
	port := stdio(t, "tools")
	_, err := port.ListTools(t.Context(), ref("a"))
	require.NoError(t, err)
	port.Client.Timeout = 50 * time.Millisecond
	_, err = port.CallTool(t.Context(), ref("a"), "hang", engine.Object("name", ""))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
