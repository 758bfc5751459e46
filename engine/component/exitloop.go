package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

var exitLoopSpec = engine.Spec{
	Name:     "ExitLoop",
	Category: engine.CategoryFlow, Icon: "exit",
	Doc:    "Ends the Loop around it: what follows the Loop runs next.",
	New:    func() engine.Component { return new(ExitLoop) },
	Inline: true,
}

// ExitLoop ends the Loop whose body it stands in. In: nothing. Out: nothing.
//
// Source: RAGFlow agent/component/exit_loop.py at 80a16e71 (behaviour read, written anew).
type ExitLoop struct{}

// Run does nothing: being there is enough.
func (*ExitLoop) Run(context.Context, *engine.Call) error { return nil }

// Exit marks the component as a way out of a body.
func (*ExitLoop) Exit() {}

var (
	_ engine.Component = (*ExitLoop)(nil)
	_ engine.Exit      = (*ExitLoop)(nil)
)
