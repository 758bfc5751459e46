//go:build unix

package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// A real process is stopped in the middle of a model call, by the signal of Ctrl-C.
func TestInterruptCancelsAndSaves(t *testing.T) {
	dir := t.TempDir()
	program, err := servertest.Build(dir, "../../cmd/easel")
	require.NoError(t, err)

	asked := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Half an\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		close(asked)
		<-r.Context().Done()
	}))
	defer server.Close()

	canvas, state := filepath.Join(dir, "c.json"), filepath.Join(dir, "state.json")
	require.NoError(t, os.WriteFile(canvas, sketch.Bytes(
		"begin Begin -> LLM:A",
		`LLM:A LLM {"llm_id": "m"} -> Message:A`,
		`Message:A Message {"content": ["{LLM:A@content}"]}`,
	), 0o600))
	var out, errs bytes.Buffer
	cmd := exec.Command(program, "run", canvas, "-q", "Tell me", "--state", state)
	cmd.Env = append(os.Environ(),
		"OPENAI_BASE_URL="+server.URL, "OPENAI_API_KEY=k", "OPENAI_MODEL=m", "EASEL_MODEL_FILE=")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	require.NoError(t, cmd.Start())
	select {
	case <-asked:
	case <-time.After(2 * time.Minute):
		_ = cmd.Process.Kill()
		t.Fatal("the model was never asked: " + errs.String())
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	var exit *exec.ExitError
	require.True(t, errors.As(cmd.Wait(), &exit))
	require.Equal(t, ExitCanceled, exit.ExitCode(), errs.String())
	require.Contains(t, errs.String(), "cancelled")
	saved, err := os.ReadFile(state)
	require.NoError(t, err)
	require.Contains(t, parse1(t, string(saved)).Get("history").Text(), "Tell me")
}

// An unanswered question does not block the end of the program.
func TestCancelEndsAPrompt(t *testing.T) {
	for _, command := range []string{"run", "chat"} {
		silent, keep := io.Pipe()
		a, err := newApp(silent, io.Discard, io.Discard)
		require.NoError(t, err)
		a.asks = true
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		err = a.dispatch(ctx, []string{command, file(t, "c.json", form)})
		require.Equal(t, ExitCanceled, a.exit(ctx, err))
		require.NoError(t, keep.Close())
	}
}
