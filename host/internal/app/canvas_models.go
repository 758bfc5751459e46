package app

import (
	"context"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model"
)

// unknownModels returns a diagnostic for each step that names a model which the tenant does not
// have. Without any provider the offline model answers for all of them.
func (s *Canvases) unknownModels(ctx context.Context, tenant string, dsl []byte) ([]engine.Diagnostic, error) {
	if s.models == nil {
		return nil, nil
	}
	m, err := s.models.Of(tenant, "").Models(ctx)
	if err != nil || !m.Configured() {
		return nil, err
	}
	components := s.Document(dsl).Get("components")
	var out []engine.Diagnostic
	for id, node := range components.Fields() {
		if switchedOff(components, id) {
			continue
		}
		for _, named := range model.NamedIn(node.Get("obj").Get("params")) {
			if err := m.Check(named.ID); err != nil {
				out = append(out, engine.Diagnostic{
					Severity: engine.SeverityError, Code: engine.CodeUnknownModel, Node: id, Param: named.Param,
					Message: err.Error(),
				})
			}
		}
	}
	return out, nil
}

// switchedOff reports whether a step or a container around it is switched off.
func switchedOff(components engine.Value, id string) bool {
	for range components.Len() {
		node := components.Get(id)
		if node.Get("disabled").True() {
			return true
		}
		if id = strings.TrimSpace(node.Get("parent_id").Str()); id == "" {
			return false
		}
	}
	return false
}
