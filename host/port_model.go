package host

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/durable"
)

func (h *Host) modelPort(*durable.Job) engine.Model { return h.models }

// modelList describes the configured models.
func (h *Host) modelList() []engine.Value {
	if !h.models.Configured() {
		return []engine.Value{engine.Object("id", "offline", "provider", "easel", "about", "answers without a language model")}
	}
	var out []engine.Value
	for _, p := range h.cfg.Models.Providers {
		for _, m := range p.Models {
			out = append(out, engine.Object("id", m.Name+"@"+p.Name, "provider", p.Name))
		}
	}
	return out
}
