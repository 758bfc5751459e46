package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/code/worker"
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
	if b.Len() > responseLimit(limits) {
		large := response{Error: errResult.Error(), Limit: true}
		return large.write(out, limits)
	}
	_, err := out.Write(b.Bytes())
	return err
}

// responseLimit bounds the bytes of a response: both output channels, the result and the encoding.
func responseLimit(l Limits) int { return 3*l.Output + 64<<10 }

// Work runs one script in a worker process: it reads a request from in and writes the response to
// out. It limits the memory of the process permanently.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	var limits Limits
	requests := json.NewDecoder(in)
	if err := requests.Decode(&limits); err != nil {
		return fmt.Errorf("script worker: limits: %w", err)
	}
	if err := worker.LimitMemory(limits.Memory); err != nil {
		return fmt.Errorf("script worker: limit its memory: %w", err)
	}
	if err := worker.LimitTime(limits.Time); err != nil {
		return fmt.Errorf("script worker: limit its time: %w", err)
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

// runWorker runs a script in a separate process, which is killed when ctx is done.
func (r *Runner) runWorker(ctx context.Context, limits Limits, c *engine.CodeCall) (engine.CodeResult, error) {
	var input bytes.Buffer
	requests := json.NewEncoder(&input)
	if err := errors.Join(requests.Encode(limits), requests.Encode(c)); err != nil {
		return engine.CodeResult{}, fmt.Errorf("script: %w", err)
	}
	cmd := worker.Command(ctx, r.Worker)
	cmd.Stdin = &input
	out, errs := worker.Buffer{Remaining: responseLimit(limits)}, worker.Buffer{Remaining: 64 << 10}
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
		return engine.CodeResult{}, worker.ExitError(cmd, failed, errs.String(), limits.Memory)
	}
	var a response
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		return engine.CodeResult{}, fmt.Errorf("script worker: response: %w", err)
	}
	switch {
	case a.Limit:
		return a.Result, &worker.LimitError{Text: a.Error}
	case a.Error != "":
		return a.Result, errors.New(a.Error)
	}
	return a.Result, nil
}
