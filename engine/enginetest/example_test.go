package enginetest_test

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// A case records a run with the answers of its model; playing it shows how the canvas behaves now.
func ExamplePlay() {
	registry, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		panic(err)
	}
	dsl, err := engine.ParseJSONText(`{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Message:A"]},
		"Message:A": {"obj": {"component_name": "Message", "params": {"content": ["Hello"]}}}
	}}`)
	if err != nil {
		panic(err)
	}
	test := enginetest.Record("greeting", "a greeting", dsl, []enginetest.Run{{}}, engine.Null)
	observed, err := enginetest.Play(context.Background(), registry, test)
	if err != nil {
		panic(err)
	}
	recorded := enginetest.Record("greeting", "a greeting", dsl, []enginetest.Run{{}}, observed)
	again, err := enginetest.Play(context.Background(), registry, recorded)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(enginetest.Compare(recorded.Value(), again)), "differences")
	// Output: 0 differences
}
