package engine_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// initials is a component: its exported fields are its params.
type initials struct {
	Text      engine.Text `json:"text" doc:"Text with references." check:"nonempty"`
	Separator string      `json:"separator" doc:"Text between the letters." default:"."`
}

func (c *initials) Run(ctx context.Context, call *engine.Call) error {
	text, err := call.Render(ctx, &c.Text, engine.TextStyle{Record: true})
	if err != nil {
		return err
	}
	var letters []string
	for _, word := range strings.Fields(text) {
		letters = append(letters, strings.ToUpper(word[:1]))
	}
	call.Out("result", engine.String(strings.Join(letters, c.Separator)))
	return nil
}

var initialsSpec = engine.Spec{
	Name: "Initials", Doc: "Shortens a text to the first letters of its words.", Category: engine.CategoryData,
	New:     func() engine.Component { return new(initials) },
	Outputs: []engine.Field{{Name: "result", Type: "string", Doc: "the letters"}},
	Waits:   true,
}

func ExampleComponent() {
	registry, err := engine.NewRegistry(append(component.Builtin(), initialsSpec)...)
	if err != nil {
		panic(err)
	}
	canvas, err := engine.Load(registry, []byte(`{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Initials:A"]},
		"Initials:A": {"obj": {"component_name": "Initials", "params": {"text": "{sys.query}"}},
			"downstream": ["Message:B"]},
		"Message:B": {"obj": {"component_name": "Message", "params": {"content": ["{Initials:A@result}"]}}}
	}}`))
	if err != nil {
		panic(err)
	}
	input := engine.Input{Query: engine.String("as soon as possible")}
	fmt.Println(answerOf(canvas.Run(context.Background(), canvas.State(), input, engine.Options{})))
	// Output: A.S.A.P
}

// Load checks params by the tags of their fields.
func ExampleLoad_errors() {
	registry, err := engine.NewRegistry(append(component.Builtin(), initialsSpec)...)
	if err != nil {
		panic(err)
	}
	_, err = engine.Load(registry, []byte(`{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Initials:A"]},
		"Initials:A": {"obj": {"component_name": "Initials", "params": {"text": "", "separator": 3}}}
	}}`))
	fmt.Println(err)
	// Output: component "Initials:A", Initials, parameter text: "" is empty; expected a value
}

// The JSON Schema of params follows from the same tags.
func ExampleSpec_Schema() {
	registry, err := engine.NewRegistry(initialsSpec)
	if err != nil {
		panic(err)
	}
	spec, _ := registry.Lookup("Initials")
	schema := spec.Schema().Get("properties").Get("separator")
	fmt.Println(schema.Get("type"), schema.Get("default"))
	// Output: string .
}

// passages is a retriever over a few texts.
type passages []string

func (p passages) Retrieve(_ context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	var found engine.Found
	for i, text := range p {
		if strings.Contains(text, q.Text) {
			found.Chunks = append(found.Chunks, engine.Object("chunk_id", fmt.Sprint(i), "content_with_weight", text))
		}
	}
	return found, nil
}

func ExampleRetriever() {
	canvas := loadExample(`{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Retrieval:A"]},
		"Retrieval:A": {"obj": {"component_name": "Retrieval", "params": {
			"query": "{sys.query}", "dataset_ids": ["shop"]}}, "downstream": ["Message:B"]},
		"Message:B": {"obj": {"component_name": "Message", "params": {"content": ["{Retrieval:A@json}"]}}}
	}}`)
	state := canvas.State()
	options := engine.Options{Ports: engine.Ports{Retriever: passages{"shoes: 30 days", "hats: 14 days"}}}
	answerOf(canvas.Run(context.Background(), state, engine.Input{Query: engine.String("hats")}, options))
	chunks, _ := state.Output("Retrieval:A", "json")
	fmt.Println(chunks.At(0).JSON())
	// Output: {"chunk_id":"1","content_with_weight":"hats: 14 days"}
}
