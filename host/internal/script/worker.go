package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// response is the output of a worker. Its input is a [Limits] followed by an [engine.CodeCall],
// which it reads after the limits are in force.
type response struct {
	Result engine.CodeResult
	Error  string
	Limit  bool // the error is an engine.ErrLimit
}

// write encodes the response, or an error if the response is too large.
func (a *response) write(out io.Writer, limits Limits) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(a); err != nil {
		return err
	}
	if b.Len() > limits.response() {
		large := response{Error: errResult.Error(), Limit: true}
		return large.write(out, limits)
	}
	_, err := out.Write(b.Bytes())
	return err
}

// response bounds the bytes of a response: both output channels, the result and the encoding.
func (l Limits) response() int { return 3*l.Output + 64<<10 }

// Work runs one script in a worker process: it reads a request from in and writes the response to
// out. It limits the memory of the process permanently.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	var limits Limits
	requests := json.NewDecoder(in)
	if err := requests.Decode(&limits); err != nil {
		return fmt.Errorf("script worker: limits: %w", err)
	}
	if err := limitProcess(limits.Memory); err != nil {
		return fmt.Errorf("script worker: limit its memory: %w", err)
	}
	var call engine.CodeCall
	if err := requests.Decode(&call); err != nil {
		return fmt.Errorf("script worker: call: %w", err)
	}
	result, err := run(ctx, limits, &call)
	a := response{Result: result}
	if err != nil {
		a.Error, a.Limit = err.Error(), errors.Is(err, engine.ErrLimit)
	}
	return a.write(out, limits)
}

// workerEnvironment is the complete environment of a worker: scripts must not see keys and settings
// of the host. A script needs one thread beside the garbage collector; more threads, each with its
// own memory, would exhaust the limit.
var workerEnvironment = []string{"GOMAXPROCS=2", "MALLOC_ARENA_MAX=1"}

// runWorker runs a script in a separate process, which is killed when ctx is done.
func (r *Runner) runWorker(ctx context.Context, limits Limits, c *engine.CodeCall) (engine.CodeResult, error) {
	var input bytes.Buffer
	requests := json.NewEncoder(&input)
	if err := errors.Join(requests.Encode(limits), requests.Encode(c)); err != nil {
		return engine.CodeResult{}, fmt.Errorf("script: %w", err)
	}
	cmd := exec.CommandContext(ctx, r.Worker[0], r.Worker[1:]...)
	cmd.Stdin = &input
	cmd.Env = workerEnvironment
	cmd.WaitDelay = time.Second
	out, errs := limitedBuffer{remaining: limits.response()}, limitedBuffer{remaining: 64 << 10}
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return engine.CodeResult{}, fmt.Errorf("script worker: %w", err)
	}
	if r.started != nil {
		r.started(cmd.Process.Pid)
	}
	failed := cmd.Wait()
	if ctx.Err() != nil {
		return engine.CodeResult{}, context.Cause(ctx)
	}
	if failed != nil {
		return engine.CodeResult{}, exitError(cmd, failed, errs.String(), limits)
	}
	var a response
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		return engine.CodeResult{}, fmt.Errorf("script worker: response: %w", err)
	}
	switch {
	case a.Limit:
		return a.Result, &limitError{a.Error}
	case a.Error != "":
		return a.Result, errors.New(a.Error)
	}
	return a.Result, nil
}

// exitError returns why a worker exited without a response: Work failed, or the Go runtime or a
// signal terminated the process.
func exitError(cmd *exec.Cmd, failed error, text string, limits Limits) error {
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == 1 {
		return fmt.Errorf("script worker: %w: %s", failed, strings.TrimSpace(text))
	}
	if strings.Contains(text, "stack exceeds") || strings.Contains(text, "stack overflow") {
		return fmt.Errorf("script: %w: %w", engine.ErrLimit, ErrNested)
	}
	return memoryError(limits.Memory)
}

// memoryError returns the error of a script that exceeded the memory limit.
func memoryError(limit int64) error {
	return fmt.Errorf("script: %w: it needs more than %d MB of memory", engine.ErrLimit, limit>>20)
}

// limitError is a limit that was exceeded in a worker.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }
func (e *limitError) Unwrap() error { return engine.ErrLimit }

// limitedBuffer accepts all writes and stores only the first bytes.
type limitedBuffer struct {
	bytes.Buffer
	remaining int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), b.remaining)
	b.remaining -= n
	b.Buffer.Write(p[:n])
	return len(p), nil
}
