package engine_test

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// loadExample loads a canvas of built-in components.
func loadExample(dsl string) *engine.Canvas {
	registry, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		panic(err)
	}
	canvas, err := engine.Load(registry, []byte(dsl))
	if err != nil {
		panic(err)
	}
	return canvas
}

// answerOf runs a canvas to its end and returns the text of its messages.
func answerOf(events iter.Seq2[*engine.Event, error]) string {
	var b strings.Builder
	for event, err := range events {
		if err != nil {
			panic(err)
		}
		if event.Type == engine.EventMessage {
			b.WriteString(event.Data().Get("content").Str())
		}
	}
	return b.String()
}

const echoCanvas = `{"components": {
	"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Message:A"]},
	"Message:A": {"obj": {"component_name": "Message", "params": {"content": ["You said: {sys.query}"]}}}
}}`

// A model is a port: a function that yields the pieces of an answer.
type shout struct{}

func (shout) Generate(_ context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		last := req.Messages[len(req.Messages)-1]
		for _, word := range strings.SplitAfter(strings.ToUpper(last.Content), " ") {
			if !yield(engine.ModelPiece{Text: word}, nil) {
				return
			}
		}
	}
}

func ExampleModel() {
	canvas := loadExample(`{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["LLM:A"]},
		"LLM:A": {"obj": {"component_name": "LLM", "params": {"prompts": [{"role": "user", "content": "{sys.query}"}]}},
			"downstream": ["Message:A"]},
		"Message:A": {"obj": {"component_name": "Message", "params": {"content": ["{LLM:A@content}"]}}}
	}}`)
	options := engine.Options{Ports: engine.Ports{Model: shout{}}}
	input := engine.Input{Query: engine.String("hello world")}
	fmt.Println(answerOf(canvas.Run(context.Background(), canvas.State(), input, options)))
	// Output: HELLO WORLD
}

func ExampleCanvas_Save() {
	canvas := loadExample(echoCanvas)
	state := canvas.State()
	ctx, options := context.Background(), engine.Options{}
	answerOf(canvas.Run(ctx, state, engine.Input{Query: engine.String("first")}, options))
	saved := canvas.Save(state)

	// Later, perhaps in another process.
	canvas = loadExample(string(saved))
	state = canvas.State()
	answerOf(canvas.Run(ctx, state, engine.Input{Query: engine.String("second")}, options))
	for _, turn := range state.History() {
		fmt.Println(turn.Role+":", turn.Text())
	}
	// Output:
	// user: first
	// assistant: You said: first
	// user: second
	// assistant: You said: second
}

// A form pauses the run; its answers are the input of the next call.
func ExampleState_Waiting() {
	canvas := loadExample(`{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["UserFillUp:Form"]},
		"UserFillUp:Form": {"obj": {"component_name": "UserFillUp", "params": {"enable_tips": true, "tips": "Where?",
			"inputs": {"city": {"name": "City", "type": "line"}}}}, "downstream": ["Message:A"]},
		"Message:A": {"obj": {"component_name": "Message", "params": {"content": ["Off to {UserFillUp:Form@city}!"]}}}
	}}`)
	ctx, state := context.Background(), canvas.State()
	answerOf(canvas.Run(ctx, state, engine.Input{Query: engine.String("a trip")}, engine.Options{}))
	fmt.Println(state.Paused(), state.Waiting())

	answers := engine.Object("city", engine.Object("value", "Oslo"))
	fmt.Println(answerOf(canvas.Run(ctx, state, engine.Input{Inputs: answers}, engine.Options{})))
	// Output:
	// true [UserFillUp:Form]
	// Off to Oslo!
}

// Stopping to range over the events cancels the run.
func ExampleCanvas_Run_stop() {
	canvas := loadExample(echoCanvas)
	for event, err := range canvas.Run(context.Background(), canvas.State(), engine.Input{}, engine.Options{}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(event.Seq, event.Type)
		if event.Type == engine.EventNodeStarted {
			break
		}
	}
	// Output:
	// 1 workflow_started
	// 2 node_started
}

// Pinned outputs are used instead of running a node, and Until stops after one.
func ExampleOptions_pins() {
	canvas := loadExample(`{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["LLM:A"]},
		"LLM:A": {"obj": {"component_name": "LLM", "params": {}}, "downstream": ["StringTransform:B"]},
		"StringTransform:B": {"obj": {"component_name": "StringTransform", "params": {
			"method": "split", "split_ref": "LLM:A@content", "delimiters": [", "]}}, "downstream": ["Message:C"]},
		"Message:C": {"obj": {"component_name": "Message", "params": {"content": ["{StringTransform:B@result}"]}}}
	}}`)
	state := canvas.State()
	answerOf(canvas.Run(context.Background(), state, engine.Input{}, engine.Options{
		Pins:  map[string]engine.Value{"LLM:A": engine.Object("content", "red, green")},
		Until: "StringTransform:B",
	}))
	result, _ := state.Output("StringTransform:B", "result")
	fmt.Println(result, state.Path())
	// Output: ["red", "green"] [begin LLM:A StringTransform:B]
}

// Patch replaces params of one node, such as those of a form that is being edited.
func ExampleCanvas_Patch() {
	canvas := loadExample(echoCanvas)
	changed, err := canvas.Patch("Message:A", engine.Object("content", engine.Strings("Hi {sys.query}")))
	if err != nil {
		panic(err)
	}
	input := engine.Input{Query: engine.String("Ann")}
	fmt.Println(answerOf(changed.Run(context.Background(), changed.State(), input, engine.Options{})))
	_, err = canvas.Patch("Message:A", engine.Object("content", engine.Int(1)))
	fmt.Println(err)
	// Output:
	// Hi Ann
	// component "Message:A", Message, parameter content[0]: 1 is a number; expected a string
}

// Debug executes one node with given values for the references in its params.
func ExampleCanvas_Debug() {
	canvas := loadExample(echoCanvas)
	values := engine.Object("sys.query", "test")
	outputs, err := canvas.Debug(context.Background(), canvas.State(), "Message:A", values, engine.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(outputs.Get("content"))
	// Output: You said: test
}

// With Checkpoints a run can be continued by another process from its log.
func ExampleCanvas_StateAt() {
	canvas := loadExample(echoCanvas)
	var log []*engine.Event
	options := engine.Options{Checkpoints: true, Internal: true}
	input := engine.Input{Query: engine.String("hello")}
	for event, err := range canvas.Run(context.Background(), canvas.State(), input, options) {
		if err != nil {
			panic(err)
		}
		log = append(log, event.Clone())
		if event.Type == engine.EventNodeFinished {
			break // the process ends here
		}
	}
	state, err := canvas.StateAt(log, log[len(log)-1].Seq)
	if err != nil {
		panic(err)
	}
	fmt.Println(answerOf(canvas.Continue(context.Background(), state, options)))
	// Output: You said: hello
}

// A run that reaches a limit fails with an error that has a code.
func ExampleLimits() {
	canvas := loadExample(`{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["LLM:A"]},
		"LLM:A": {"obj": {"component_name": "LLM", "params": {}}, "downstream": ["LLM:B"]},
		"LLM:B": {"obj": {"component_name": "LLM", "params": {}}, "downstream": []}
	}}`)
	options := engine.Options{Ports: engine.Ports{Model: shout{}}, Limits: engine.Limits{ModelCalls: 1}}
	input := engine.Input{Query: engine.String("hello")}
	for _, err := range canvas.Run(context.Background(), canvas.State(), input, options) {
		if err != nil {
			fmt.Println(engine.CodeOf(err))
		}
	}
	// Output: too_many_model_calls
}
