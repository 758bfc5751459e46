package main

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

// tools runs components outside the engine: those of the host here, plugins in plugin.go.
type tools struct {
	*run
	tool, plugin bool // those that the host answers
}

// CallTool gets the outputs of a component from the host.
func (t tools) CallTool(ctx context.Context, c *engine.ExternalCall) (engine.Value, error) {
	if !t.tool {
		return engine.Null, fmt.Errorf("%s: %w: it works only where a host offers it as a tool", c.Component,
			engine.ErrNoPort)
	}
	asked := engine.Object("component", c.Component, "params", c.Params, "arguments", c.Arguments, "key", c.Key)
	if c.SecretMark != "" {
		asked = asked.With("secret_mark", engine.String(c.SecretMark))
	}
	return t.onceFor(ctx, "tool", c.Node, asked)
}
