//go:build unix

package worker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lateWriter accepts output as late as a goroutine on a busy machine.
type lateWriter struct{ stored Buffer }

func (w *lateWriter) Write(p []byte) (int, error) {
	time.Sleep(2 * time.Second)
	return w.stored.Write(p)
}

// The output of a worker is complete, also when it is read long after the worker has ended.
func TestLateOutputIsComplete(t *testing.T) {
	t.Parallel()
	out := lateWriter{Buffer{Remaining: 100}}
	cmd := Command(t.Context(), []string{"/bin/sh", "-c", "echo words"})
	cmd.Stdout = &out
	require.NoError(t, cmd.Run())
	require.Equal(t, "words\n", out.stored.String())
}

// What a worker writes beyond the limit of its output is not stored.
func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	out := Buffer{Remaining: 10}
	cmd := Command(t.Context(), []string{"/bin/sh", "-c", "echo a long line; echo another one"})
	cmd.Stdout = &out
	require.NoError(t, cmd.Run())
	require.Equal(t, "a long lin", out.String())
}
