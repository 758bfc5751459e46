package offline_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/offline"
)

// The offline model answers at once, without a language model, and states that.
func ExampleModel() {
	request := &engine.ModelRequest{Messages: []engine.ModelMessage{{Role: "user", Content: "How are you?"}}}
	var answer strings.Builder
	for piece, err := range (offline.Model{}).Generate(context.Background(), request) {
		if err != nil {
			panic(err)
		}
		answer.WriteString(piece.Text)
	}
	fmt.Println(strings.HasPrefix(answer.String(), offline.Notice))
	// Output: true
}
