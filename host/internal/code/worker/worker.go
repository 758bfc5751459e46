// Package worker starts and confines the processes that run scripts of canvases.
//
// An interpreter shares the memory of its process, so a hostile script can exhaust that memory or
// overflow the stack, which terminates a Go program. A host therefore starts itself as a worker for
// each script: without environment, with its memory and processor time limited by the kernel, and
// killed at its deadline. The packages that use this one define the protocol between the processes.
package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

const (
	// Arena is the unit in which the Go runtime of a worker reserves heap memory.
	Arena = 64 << 20
	// Overhead bounds the memory of a worker beyond its limit: part of an arena, the interpreter
	// and stacks.
	Overhead = Arena + 16<<20
)

// WholeArenas returns the heap memory available to a worker with the given limit, not counting the
// rest of its first arena.
func WholeArenas(memory int64) int64 { return (memory + Arena - 1) / Arena * Arena }

// ErrNested means that calls, brackets or values of a script nest too deep for the stack of the
// worker.
var ErrNested = errors.New("it nests too deep")

// environment is the complete environment of a worker: scripts must not see keys and settings of
// the host. A script needs one thread besides the garbage collector; more threads, each with its
// own memory, would exhaust the limit.
var environment = []string{"GOMAXPROCS=2", "MALLOC_ARENA_MAX=1"}

// outputWait bounds how long the output of a worker that ended is read. Nothing but a busy machine
// delays it: a worker has no children that keep it open.
const outputWait = 10 * time.Second

// Command returns a worker that is not started yet. It is killed when ctx is done.
func Command(ctx context.Context, command []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = environment
	cmd.WaitDelay = outputWait
	return cmd
}

// ExitError returns why a worker exited without a response: its program failed, or the Go runtime
// or a signal terminated the process. text is its standard error.
func ExitError(cmd *exec.Cmd, failed error, text string, memory int64) error {
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == 1 {
		return fmt.Errorf("script worker: %w: %s", failed, strings.TrimSpace(text))
	}
	if strings.Contains(text, "stack exceeds") || strings.Contains(text, "stack overflow") {
		return fmt.Errorf("script: %w: %w", engine.ErrLimit, ErrNested)
	}
	return MemoryError(memory)
}

// MemoryError returns the error of a script that exceeded the memory limit.
func MemoryError(limit int64) error {
	return fmt.Errorf("script: %w: it needs more than %d MB of memory", engine.ErrLimit, limit>>20)
}

// LimitError is a limit that was exceeded in a worker.
type LimitError struct{ Text string }

func (e *LimitError) Error() string { return e.Text }

// Unwrap returns the sentinel of limits.
func (e *LimitError) Unwrap() error { return engine.ErrLimit }

// Buffer accepts all writes and stores only the first bytes. It has no ReadFrom, which io.Copy
// would call instead of Write.
type Buffer struct {
	Remaining int // bytes that are still stored
	stored    bytes.Buffer
}

// Bytes returns the stored bytes.
func (b *Buffer) Bytes() []byte { return b.stored.Bytes() }

// String returns the stored bytes.
func (b *Buffer) String() string { return b.stored.String() }

// Write stores the bytes that fit. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	n := min(len(p), b.Remaining)
	b.Remaining -= n
	b.stored.Write(p[:n])
	return len(p), nil
}
