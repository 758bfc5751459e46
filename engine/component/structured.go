package component

import (
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

// errNoStructure means that the model did not return the requested JSON.
//
//lint:ignore ST1005 clients know exactly this text
var errNoStructure = errors.New("The answer cannot be parsed as JSON")

// outputSchema returns the JSON Schema of a node's output "structured" as the canvas declares it,
// under "schema" or "structured"; null if there is none.
func outputSchema(outputs engine.Value) engine.Value {
	slot := outputs.Get("structured")
	for _, s := range [...]engine.Value{slot, slot.Get("schema"), slot.Get("structured")} {
		if s.Get("properties").Len() > 0 {
			return s.Without("value")
		}
	}
	return engine.Null
}

// readStructured parses an answer that should be JSON.
func readStructured(text string) (engine.Value, error) {
	v, err := readLooseJSON(text)
	if err != nil {
		return engine.Null, fmt.Errorf("%w: %w", errNoStructure, err)
	}
	return v, nil
}
