package host

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/code"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/tools/native"
)

// openScripts opens the runner of CodeExec's scripts, and reports missing languages in validation.
func (h *Host) openScripts(registry *engine.Registry) (err error) {
	h.scripts, err = code.New(code.Config{
		Worker: h.cfg.ScriptWorker, Memory: h.memory.scripts, Python: h.cfg.Python,
		Executor: h.cfg.CodeExecutor, Token: h.cfg.CodeExecutorToken,
	})
	if err == nil {
		registry.Missing = native.Missing(h.scripts.Missing)
	}
	return err
}

// code runs the scripts of a run; files that they make can be downloaded like other attachments.
func (p *ports) code(j *runs.Job) engine.Code {
	return p.scripts.With(p.save(j))
}

// save stores files that the tools of a run made.
func (p *ports) save(j *runs.Job) func(context.Context, string, string, []byte) (engine.Value, error) {
	files := p.files.RunFiles(filesOf(j))
	return func(ctx context.Context, name, format string, data []byte) (engine.Value, error) {
		v, err := files.Save(ctx, name, format, data)
		if err != nil {
			return v, err
		}
		return v.With("url", engine.String("/api/v1/agents/attachments/"+v.Get("doc_id").Text()+"/download")), nil
	}
}
