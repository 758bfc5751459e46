package engine_test

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

func ExampleCanvas_Run() {
	dsl := []byte(`{"components": {
		"begin":   {"obj": {"component_name": "Begin",   "params": {}}, "downstream": ["Message:Hi"]},
		"Message:Hi": {"obj": {"component_name": "Message", "params": {"content": ["Hello {sys.query}!"]}},
			"downstream": []}
	}}`)
	registry, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		panic(err)
	}
	canvas, err := engine.Load(registry, dsl)
	if err != nil {
		panic(err)
	}
	state := canvas.State()
	for event, err := range canvas.Run(context.Background(), state, engine.Input{Query: engine.String("easel")},
		engine.Options{}) {
		if err != nil {
			panic(err)
		}
		if event.Type == engine.EventMessage {
			fmt.Print(event.Data().Get("content"))
		}
	}
	fmt.Println()
	fmt.Println(state.Path())
	// Output:
	// Hello easel!
	// [begin Message:Hi]
}

func ExampleValidate() {
	registry, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		panic(err)
	}
	for _, problem := range engine.Validate(registry, []byte(`{"components": {
		"begin": {"obj": {"component_name": "Begin"}, "downstream": ["Message:A", "gone"]},
		"Message:A": {"obj": {"component_name": "Message", "params": {"content": "{LLM:X@content}"}}}
	}}`)) {
		fmt.Println(problem)
	}
	// Output:
	// warning: begin, downstream: "gone" names no component of this canvas: nothing follows here
	// error: Message:A: {LLM:X@content}: no component "LLM:X" in this canvas
}
