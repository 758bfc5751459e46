package wallclock

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// double answers for models and tools after fixed times.
type double struct {
	unit time.Duration

	mu    sync.Mutex
	calls []made
}

// toolUnits is the duration of each tool.
const toolUnits = 2

// wait returns a call of a node.
func (d *double) wait(ctx context.Context, node string, units float64) error {
	start := time.Now()
	err := engine.SystemClock{}.Sleep(ctx, time.Duration(units*float64(d.unit)))
	d.mu.Lock()
	defer d.mu.Unlock()
	node, _, _ = strings.Cut(node, "-->") // a tool belongs to its agent
	d.calls = append(d.calls, made{node, units, start, time.Now()})
	return err
}

// Generate waits for the number of units in the system prompt. It calls all offered tools once.
func (d *double) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		var units float64
		if _, err := fmt.Sscan(req.System, &units); err != nil {
			units = 1 // of a canvas that is not one of the shapes
		}
		if err := d.wait(ctx, req.Node, units); err != nil {
			yield(engine.ModelPiece{}, err)
			return
		}
		if called := req.Messages[len(req.Messages)-1].Role == "tool"; called || len(req.Tools) == 0 {
			yield(engine.ModelPiece{Text: "answer"}, nil)
			return
		}
		var calls []engine.ToolCall
		for i, t := range req.Tools {
			arguments := engine.NewObject(1)
			for name := range t.Parameters.Get("properties").Fields() {
				arguments.Set(name, engine.String("go"))
			}
			text := arguments.Value().JSON()
			calls = append(calls, engine.ToolCall{ID: strconv.Itoa(i), Name: t.Name, Arguments: text})
		}
		yield(engine.ModelPiece{ToolCalls: calls}, nil)
	}
}

// ModelInfo reports native function calls.
func (d *double) ModelInfo(context.Context, string) engine.Info {
	return engine.Info{Tools: true, Context: 100_000}
}

// CallTool waits and returns no results.
func (d *double) CallTool(ctx context.Context, call *engine.ExternalCall) (engine.Value, error) {
	return engine.Object("formalized_content", "nothing"), d.wait(ctx, call.Node, toolUnits)
}

// Retrieve finds one passage at once: a search takes milliseconds where a model takes seconds.
func (d *double) Retrieve(context.Context, *engine.RetrievalQuery) (engine.Found, error) {
	return engine.Found{Chunks: []engine.Value{engine.Object("chunk_id", "1", "content_with_weight", "a text")}}, nil
}

// Read returns the text of an upload.
func (d *double) Read(context.Context, engine.Value) (string, error) { return "a text", nil }
