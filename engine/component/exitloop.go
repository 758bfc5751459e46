package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

var exitLoopSpec = engine.Spec{
	Name:  "ExitLoop",
	Title: "Exit loop", Search: []string{"break", "stop", "跳出"},
	Category: engine.CategoryFlow, Icon: "exit",
	Doc:    "Ends the enclosing Loop; the nodes after the Loop run next.",
	New:    func() engine.Component { return new(ExitLoop) },
	Inline: true,
}

// ExitLoop ends the Loop that contains it. In: nothing. Out: nothing.
//
// Source: RAGFlow agent/component/exit_loop.py at 80a16e71 (behaviour only).
type ExitLoop struct{}

// Run does nothing: reaching the node ends the loop.
func (*ExitLoop) Run(context.Context, *engine.Call) error { return nil }

// Exit marks the component as an exit of a body.
func (*ExitLoop) Exit() {}

var (
	_ engine.Component = (*ExitLoop)(nil)
	_ engine.Exit      = (*ExitLoop)(nil)
)
