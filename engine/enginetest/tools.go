package enginetest

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Tools is an engine.Tools that returns the same outputs for every component.
type Tools struct {
	Outputs engine.Value // name -> value
}

// CallTool returns the outputs.
func (t *Tools) CallTool(ctx context.Context, _ *engine.ExternalCall) (engine.Value, error) {
	if err := ctx.Err(); err != nil {
		return engine.Null, err
	}
	return t.Outputs, nil
}
