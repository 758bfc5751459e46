package component

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

var iterationSpec = engine.Spec{
	Ignores:  []string{"variable", maxConcurrency},
	Name:     "Iteration",
	Declares: engine.DeclaresCollected,
	Title:    "For each", Search: []string{"foreach", "map", "batch", "list", "遍历", "批量"},
	Category: engine.CategoryFlow, Icon: "repeat",
	Doc: "Runs its body once for each element of a list and collects the results.",
	New: func() engine.Component { return new(Iteration) },
	Outputs: []engine.Field{
		{Name: "*", Type: "list", Doc: "for each declared output with a ref: the values of that ref, one per element"},
	},
	Thoughts: "Iterating over a list.",
}

var iterationItemSpec = engine.Spec{
	Name:  "IterationItem",
	Title: "Each item", Search: []string{"element", "元素"},
	Category: engine.CategoryFlow, Icon: "enter", Label: "each item",
	Doc: "Starts each turn of an Iteration's body.",
	New: func() engine.Component { return new(IterationItem) },
	Outputs: []engine.Field{
		{Name: "item", Type: "any", Doc: "the element"},
		{Name: "index", Type: "number", Doc: "its index in the list, from 0"},
		{Name: "result", Type: "any", Doc: "the element again, under its name in other versions"},
	},
	Short:    map[string]string{"item": "item", "index": "index", "result": "item"},
	Inline:   true,
	Thoughts: "Taking the next element.",
}

// Iteration runs its body for each element of a list.
//
// In: the list. Out: one list per declared output with a ref to a node of the body. A node that did
// not run in a turn contributes its value of an earlier turn. An empty list leaves the outputs
// null.
//
// Source: RAGFlow agent/component/iteration.py at 80a16e71 (behaviour only). Differs: when it is
// entered again, in another body or a cycle, it starts from the first element.
type Iteration struct {
	ItemsRef engine.Ref `json:"items_ref" label:"List" doc:"the steps inside run once per element" want:"Choose the list to go through."`
	ItemOptions

	collected []collected
}

// collected is an output of a container that collects the values of a node of its body.
type collected struct {
	output string
	from   engine.Ref
}

// collectedOutputs returns the declared outputs with a ref.
func collectedOutputs(outputs engine.Value) []collected {
	var list []collected
	for name, out := range outputs.Fields() {
		if ref := out.Get("ref").Str(); ref != "" {
			list = append(list, collected{output: name, from: engine.ParseRef(ref)})
		}
	}
	return list
}

// Init reads the outputs to collect.
func (it *Iteration) Init(s *engine.Setup) error {
	it.collected = collectedOutputs(s.Outputs)
	return it.readMax(s)
}

// Run checks that there is a list and clears the results of an earlier entry.
func (it *Iteration) Run(ctx context.Context, call *engine.Call) error {
	if _, err := it.items(ctx, call); err != nil {
		return err
	}
	clearCollected(call, it.collected)
	if it.Inline() || call.Debugging() {
		return nil
	}
	return it.run(ctx, call, it)
}

// Inline reports whether the body runs turn by turn, as part of the run itself.
func (it *Iteration) Inline() bool { return it.inTurn() }

func clearCollected(call *engine.Call, list []collected) {
	for i := range list {
		call.Out(list[i].output, engine.Null)
	}
}

// items returns the list to iterate over.
func (it *Iteration) items(ctx context.Context, call *engine.Call) (engine.Value, error) {
	if it.ItemsRef.IsZero() {
		return engine.Null, errors.New("items_ref is empty; expected a reference to a list")
	}
	v, err := call.Resolve(ctx, &it.ItemsRef)
	if err == nil && v.Kind() != engine.KindList {
		err = fmt.Errorf("items_ref %s must be a list, but it is a %s", it.ItemsRef.String(), v.Kind())
	}
	return v, err
}

func (it *Iteration) outputs() []collected { return it.collected }

// Progresses returns true: every turn takes one element.
func (it *Iteration) Progresses() bool { return true }

// Breaks returns false: an ExitLoop in the body ends only the turn.
func (it *Iteration) Breaks() bool { return false }

// lister is a container that iterates over a list.
type lister interface {
	items(ctx context.Context, call *engine.Call) (engine.Value, error)
	outputs() []collected
}

// IterationItem outputs one element per turn.
//
// Out: item and index, and result where the canvas declares that output. The turn after the last
// element ends the Iteration and leaves the outputs as they are.
type IterationItem struct {
	result bool // the canvas also reads the element as result
}

// Init looks for the output result.
func (i *IterationItem) Init(s *engine.Setup) error {
	_, i.result = s.Outputs.Lookup("result")
	return nil
}

// Run takes the next element.
func (i *IterationItem) Run(ctx context.Context, call *engine.Call) error {
	list, ok := call.Container().(lister)
	if !ok {
		return errors.New("an IterationItem needs an Iteration as parent (parent_id)")
	}
	item, ok, err := nextItem(ctx, call, list)
	if ok && i.result {
		call.Out("result", item)
	}
	return err
}

// nextItem collects the results of the last turn and starts the turn of the next element; ok is
// false after the last one.
func nextItem(ctx context.Context, call *engine.Call, list lister) (item engine.Value, ok bool, err error) {
	items, err := list.items(ctx, call)
	if err != nil {
		return engine.Null, false, err
	}
	at := call.Cursor()
	if at > 0 && !call.SingleItem() {
		if err := collect(ctx, call, list.outputs()); err != nil {
			return engine.Null, false, err
		}
	}
	if at >= items.Len() {
		call.EndBody()
		return engine.Null, false, nil
	}
	item = items.At(at)
	call.Out("item", item)
	call.Out("index", engine.Int(int64(at)))
	call.Turn()
	return item, true, nil
}

// collect appends the current values of the body's nodes to the container's outputs.
func collect(ctx context.Context, call *engine.Call, list []collected) error {
	if len(list) == 0 {
		return nil
	}
	body := call.Body()
	for i := range list {
		from := &list[i].from
		if !slices.Contains(body, from.Node) {
			continue
		}
		v, err := call.Resolve(ctx, from)
		if err != nil {
			return err
		}
		to := call.ContainerRef(list[i].output)
		sofar, err := call.Peek(&to)
		if err != nil {
			return err
		}
		if err := call.Set(ctx, &to, sofar.Append(v)); err != nil {
			return err
		}
	}
	return nil
}

// Item marks the component as the start of a body.
func (i *IterationItem) Item() {}

// Fits reports whether a container iterates over a list.
func (i *IterationItem) Fits(c engine.Container) bool {
	_, ok := c.(lister)
	return ok
}

var (
	_ engine.Container   = (*Iteration)(nil)
	_ engine.Initializer = (*Iteration)(nil)
	_ engine.Item        = (*IterationItem)(nil)
	_ engine.Inliner     = (*Iteration)(nil)
	_ engine.Fitter      = (*IterationItem)(nil)
	_ engine.Initializer = (*IterationItem)(nil)
	_ lister             = (*Iteration)(nil)
)
