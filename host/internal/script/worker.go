package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// request and response are what goes over the pipes to a worker and back.
type request struct {
	Limits Limits
	Call   engine.CodeCall
}

type response struct {
	Result engine.CodeResult
	Error  string
	Limit  bool // the error is an engine.ErrLimit
}

// Work runs one script: a request comes from in, the response goes to out. It is what a worker process does.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	var q request
	if err := json.NewDecoder(in).Decode(&q); err != nil {
		return fmt.Errorf("script worker: %w", err)
	}
	var a response
	result, err := run(ctx, q.Limits, &q.Call)
	a.Result = result
	if err != nil {
		a.Error, a.Limit = err.Error(), errors.Is(err, engine.ErrLimit)
	}
	return json.NewEncoder(out).Encode(a)
}

// outside runs a script in a process of its own, which the end of ctx kills.
func (r *Runner) outside(ctx context.Context, limits Limits, c *engine.CodeCall) (engine.CodeResult, error) {
	input, err := json.Marshal(request{limits, *c})
	if err != nil {
		return engine.CodeResult{}, fmt.Errorf("script: %w", err)
	}
	cmd := exec.CommandContext(ctx, r.Worker[0], r.Worker[1:]...)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Env = []string{} // keys and settings of the host are not the script's business
	cmd.WaitDelay = time.Second
	var out, errs limitedBuffer
	out.left, errs.left = 8*limits.Output+1<<20, 64<<10
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return engine.CodeResult{}, fmt.Errorf("script worker: %w", err)
	}
	if err := limitProcess(cmd.Process.Pid, limits.Memory); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return engine.CodeResult{}, fmt.Errorf("script worker: limit its memory: %w", err)
	}
	failed := cmd.Wait()
	if ctx.Err() != nil {
		return engine.CodeResult{}, context.Cause(ctx)
	}
	var a response
	if err := json.Unmarshal(out.Bytes(), &a); err != nil || failed != nil {
		return engine.CodeResult{}, fmt.Errorf("%w (%v): %w", ErrCrashed, failed, engine.ErrLimit)
	}
	switch {
	case a.Limit:
		return a.Result, &limitError{a.Error}
	case a.Error != "":
		return a.Result, errors.New(a.Error)
	}
	return a.Result, nil
}

// limitError is a limit that was reached in a worker.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }
func (e *limitError) Unwrap() error { return engine.ErrLimit }

// limitedBuffer takes everything and keeps the beginning.
type limitedBuffer struct {
	bytes.Buffer
	left int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	b.Buffer.Write(p[:n])
	return len(p), nil
}
