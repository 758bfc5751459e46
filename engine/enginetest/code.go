package enginetest

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Code is an engine.Code in which every script returns the same result.
type Code struct {
	Result engine.CodeResult
}

// RunCode returns the result.
func (c *Code) RunCode(ctx context.Context, _ *engine.CodeCall) (engine.CodeResult, error) {
	if err := ctx.Err(); err != nil {
		return engine.CodeResult{}, err
	}
	return c.Result, nil
}
