package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// keeper stores a value for a run until its end.
type keeper struct{ over *[]string }

func (k *keeper) Run(context.Context, *engine.Call) error { return nil }

func (k *keeper) Reset(runID string) { *k.over = append(*k.over, runID) }

func TestNodesAndToolsAreNotifiedOfTheEndOfARun(t *testing.T) {
	var over []string
	specs := append(component.Builtin(), engine.Spec{
		Name: "Keeper", New: func() engine.Component { return &keeper{&over} },
		Tool: &engine.ToolSpec{Function: "keep"},
	})
	reg, err := engine.NewRegistry(specs...)
	require.NoError(t, err)
	c, err := engine.Load(reg, sketch.Bytes(
		"begin Begin",
		"a Keeper",
		`b Agent {"tools": [{"component_name": "Keeper", "name": "k", "params": {}},
			{"component_name": "Agent", "name": "sub", "params": {"tools": [{"component_name": "Keeper", "name": "k", "params": {}}]}}
		]}`,
	))
	require.NoError(t, err)
	for _, err := range c.Run(t.Context(), c.State(), engine.Input{}, engine.Options{}) {
		require.NoError(t, err)
		require.Empty(t, over, "not while it runs")
	}
	require.Len(t, over, 3, "the node, the agent's tool and the tool of the agent below it")
	require.Equal(t, over[0], over[2], "all for the same run")
}
