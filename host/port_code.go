package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/script"
)

func (h *Host) codePort() engine.Code {
	return &script.Runner{Worker: h.cfg.ScriptWorker, Memory: h.memory.scripts}
}
