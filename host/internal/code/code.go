// Package code runs the scripts of CodeExec components: each language in the sandbox that this
// program has for it, or all of them at an executor of RAGFlow.
package code

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/code/python"
	"github.com/easel-canvas/easel/host/internal/code/script"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// PythonWorker is the argument that makes the worker of scripts run an interpreter of Python.
const PythonWorker = "python"

// Config configures how scripts are run.
type Config struct {
	// Worker is the command line of a process that runs one JavaScript; with the argument
	// [PythonWorker] it calls python.Work. Without it, JavaScript runs in this process and Python
	// does not run.
	Worker []string
	Memory *memlimit.Budget // of all scripts; nil means no bound
	// Python are the folders in which an interpreter is looked for, in this order.
	Python []string
	// Executor is the base URL of an executor of RAGFlow that runs all scripts; "" is none. Token
	// authenticates requests to it.
	Executor, Token string
}

// New returns a port. Close it.
func New(c Config) (*Port, error) {
	if c.Executor != "" {
		e, err := NewExecutor(c.Executor)
		if err != nil {
			return nil, err
		}
		e.Token = c.Token
		return &Port{Executor: e}, nil
	}
	p := &python.Runner{Memory: c.Memory, Find: func() (*python.Module, error) { return python.Find(c.Python...) }}
	if len(c.Worker) > 0 {
		p.Worker = append(slices.Clone(c.Worker), PythonWorker)
	}
	return &Port{JavaScript: &script.Runner{Worker: c.Worker, Memory: c.Memory}, Python: p}, nil
}

// Port implements the code port of the engine.
type Port struct {
	JavaScript engine.Code
	Python     engine.Code
	// Executor runs the scripts of all languages; nil leaves them to the others.
	Executor *Executor
	// Save stores a file that a script made and returns where it is, such as {doc_id}; nil leaves
	// such files out, with a note in Stderr.
	Save func(ctx context.Context, name, format string, data []byte) (engine.Value, error)
}

var _ engine.Code = (*Port)(nil)

// RunCode runs a script. Errors: engine.ErrNoPort for a language that nothing runs here.
func (p *Port) RunCode(ctx context.Context, c *engine.CodeCall) (engine.CodeResult, error) {
	runner, err := p.runner(c.Language)
	if err != nil {
		return engine.CodeResult{}, err
	}
	res, err := runner.RunCode(ctx, c)
	if err == nil {
		err = p.saveArtifacts(ctx, &res)
	}
	return res, err
}

// saveArtifacts stores the files of a result and replaces their content by where they are.
func (p *Port) saveArtifacts(ctx context.Context, res *engine.CodeResult) error {
	made := res.Artifacts
	res.Artifacts = nil
	for _, f := range made {
		name := f.Get("name").Text()
		if p.Save == nil {
			res.Stderr += fmt.Sprintf("artifact %q left out: files are not available here\n", name)
			continue
		}
		data, err := base64.StdEncoding.DecodeString(f.Get("content_b64").Text())
		if err != nil {
			return fmt.Errorf("artifact %q: %w", name, err)
		}
		stored, err := p.Save(ctx, name, strings.TrimPrefix(path.Ext(name), "."), data)
		if err != nil {
			return fmt.Errorf("artifact %q: %w", name, err)
		}
		res.Artifacts = append(res.Artifacts, engine.StoredFile(stored, name, f.Get("mime_type").Text(), len(data)))
	}
	return nil
}

func (p *Port) runner(language string) (engine.Code, error) {
	if p.Executor != nil {
		return p.Executor, nil
	}
	switch {
	case language == "javascript" && p.JavaScript != nil:
		return p.JavaScript, nil
	case language == "python" && p.Python != nil:
		return p.Python, nil
	}
	return nil, fmt.Errorf("language %q: %w", language, engine.ErrNoPort)
}

// Missing returns why scripts of a language cannot run here, and nil if they can. Nothing is
// started.
func (p *Port) Missing(language string) error {
	runner, err := p.runner(language)
	if m, ok := runner.(interface{ Missing() error }); err == nil && ok {
		err = m.Missing()
	}
	return err
}

// With returns a copy of the port that stores files of scripts with save.
func (p *Port) With(save func(ctx context.Context, name, format string, data []byte) (engine.Value, error)) *Port {
	own := *p
	own.Save = save
	return &own
}

// Close ends the processes that wait for scripts.
func (p *Port) Close() error {
	var errs []error
	for _, runner := range []engine.Code{p.JavaScript, p.Python} {
		if c, ok := runner.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
