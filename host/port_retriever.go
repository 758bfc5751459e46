package host

import (
	"context"
	"path/filepath"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/knowledge"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// openKnowledge begins to index the folder of documents, when there is one.
func (h *Host) openKnowledge(ctx context.Context) (err error) {
	if h.cfg.Knowledge == "" {
		return nil
	}
	cfg := knowledge.Config{Root: h.cfg.Knowledge, Reader: &h.documents, Log: h.cfg.Log}
	if h.cfg.Dir != "" {
		cfg.Index = filepath.Join(h.cfg.Dir, "knowledge.db")
	}
	h.knowledge, err = knowledge.Open(ctx, cfg)
	return err
}

// retriever finds passages in the host's documents: those for everybody and the tenant's own.
func (p *ports) retriever(j *runs.Job) engine.Retriever {
	if p.knowledge == nil {
		return nil
	}
	return p.knowledge.Of(j.Tenant)
}
