// Package python runs the Python of CodeExec components. It implements the code port of the engine.
//
// The interpreter is CPython compiled to WebAssembly, a file next to the program or in the data
// directory ([Find], [Add], [Install]). It runs inside wazero in a worker process: without files,
// network and processes of the host, with its own memory, limited in time, memory, output and
// files. A script defines main, which receives the arguments by name; the result has the value,
// output and exception of main, and the files in the folder artifacts, with their bytes as
// content_b64.
//
// Starting an interpreter takes a few tenths of a second, so a [Runner] keeps one that waits for
// the next script. No interpreter runs two scripts.
package python

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/code/worker"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// Runner implements the code port of the engine for Python. Close it to end the waiting
// interpreter.
type Runner struct {
	Limits Limits
	// Memory bounds the memory of all scripts together; nil means no bound. With a small budget
	// each script gets less than its limit.
	Memory *memlimit.Budget
	// Worker is the command line of a process that calls [Work].
	Worker []string
	// Find returns the interpreter. Its error fails each script.
	Find func() (*Module, error)

	spares spares
}

var _ engine.Code = (*Runner)(nil)

// RunCode calls main of a script. Errors that the script raises are returned in Stderr; an error
// means that it was rejected, canceled, or exceeded a limit (engine.ErrLimit).
func (r *Runner) RunCode(ctx context.Context, c *engine.CodeCall) (engine.CodeResult, error) {
	limits := r.Limits.WithDefaults()
	if len(c.Script) > limits.Script {
		return engine.CodeResult{}, fmt.Errorf("script of %d bytes: %w: at most %d are accepted",
			len(c.Script), engine.ErrLimit, limits.Script)
	}
	module, err := r.Find()
	if err != nil {
		return engine.CodeResult{}, err
	}
	release, err := limits.Reserve(ctx, r.Memory, memoryOf)
	if err != nil {
		return engine.CodeResult{}, err
	}
	defer release()
	order := order{Path: module.Path, Library: module.Library, CacheDir: module.cacheDir(), Limits: limits}
	p, err := r.spares.take(r.Worker, order)
	if err != nil {
		return engine.CodeResult{}, err
	}
	defer r.spares.replace(r.Worker, order, r.keepsSpare())
	defer p.end()
	if err := p.ready(ctx); err != nil {
		return engine.CodeResult{}, err
	}
	answer, err := p.run(ctx, call{c.Script, callArguments(c), limits.Output, limits.Files})
	if err != nil {
		return engine.CodeResult{}, err
	}
	return result(answer, module, limits)
}

// Missing returns why scripts cannot run here, and nil if they can.
func (r *Runner) Missing() error {
	_, err := r.Find()
	return err
}

// callArguments returns the arguments of a call as an object.
func callArguments(c *engine.CodeCall) engine.Value {
	if c.Arguments.IsNull() {
		return engine.Object()
	}
	return c.Arguments
}

// Close ends the waiting interpreter. Scripts can still be run.
func (r *Runner) Close() error {
	r.spares.drop()
	return nil
}

// spareBudget is the smallest budget with which a waiting interpreter, of about 100 MB, is kept.
const spareBudget = 512 << 20

func (r *Runner) keepsSpare() bool { return r.Memory == nil || r.Memory.Size() >= spareBudget }

// answer is the response of the guest.
type answer struct {
	Value   engine.Value `json:"value"`
	Error   string       `json:"error"`
	Limit   string       `json:"limit"`
	Memory  bool         `json:"memory"`
	Missing string       `json:"missing"` // name of a module that could not be imported
	// Artifacts are {name, mime_type, size, content_b64}.
	Artifacts []engine.Value `json:"artifacts"`
}

// result converts the reply of a worker to the result of the port.
func result(from reply, m *Module, limits Limits) (engine.CodeResult, error) {
	res := engine.CodeResult{Stdout: from.Stdout, Stderr: from.Stderr}
	if from.Ended != "" {
		res.Stderr = line(res.Stderr) + from.Ended + "\n"
		return res, nil
	}
	var a answer
	if err := json.Unmarshal(from.Answer, &a); err != nil {
		return res, fmt.Errorf("script: answer of the interpreter: %w", err)
	}
	switch {
	case a.Memory:
		// CPython reports code that nests too deep for its parser in the same way.
		return res, fmt.Errorf("%w, or its code nests too deep", worker.MemoryError(limits.Memory))
	case a.Limit != "":
		return res, &worker.LimitError{Text: "script: " + a.Limit + ": " + engine.ErrLimit.Error()}
	case a.Error != "":
		res.Stderr = line(res.Stderr) + a.Error + m.hint(a.Missing)
		return res, nil
	}
	res.Value, res.Artifacts = a.Value, a.Artifacts
	return res, nil
}

// line ends a text that is not empty with a newline.
func line(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
