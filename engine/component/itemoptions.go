package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// ItemOptions configure how the body of a container runs for the elements of its list.
type ItemOptions struct {
	Concurrency int    `json:"concurrency" label:"At once" doc:"elements at the same time; with several they do not see each other's changes" section:"advanced" default:"1" min:"1"`
	OnError     string `json:"on_error" label:"If one fails" doc:"what happens if the body fails for an element" section:"fail" options:"stop=Stop|skip=Leave it out|collect=Keep the error" default:"stop"`
}

// maxConcurrency is the name of concurrency in other documents; concurrency takes precedence.
const maxConcurrency = "max_concurrency"

// readMax reads max_concurrency.
func (o *ItemOptions) readMax(s *engine.Setup) error {
	v := s.Params.Get(maxConcurrency)
	if v.IsNull() || !s.Params.Get("concurrency").IsNull() {
		return nil
	}
	n, ok := v.Int()
	if !ok || n < 1 {
		return s.Fail(maxConcurrency, v, "is not supported; expected a whole number of at least 1")
	}
	o.Concurrency = int(n)
	return nil
}

// stops reports whether an error in the body fails the container.
func (o *ItemOptions) stops() bool { return o.OnError == "" || o.OnError == "stop" }

// inTurn reports whether the elements are processed one after another as turns of one body.
func (o *ItemOptions) inTurn() bool { return o.Concurrency <= 1 && o.stops() }

// run runs the body for several elements at once and collects the results in the order of the
// elements.
func (o *ItemOptions) run(ctx context.Context, call *engine.Call, list lister) error {
	items, err := list.items(ctx, call)
	if err != nil {
		return err
	}
	results, err := call.RunItems(ctx, engine.Items{
		Count: items.Len(), Concurrency: o.Concurrency, Stop: o.stops(),
	})
	if err != nil || len(results) == 0 {
		return err
	}
	if o.OnError == keepErrors {
		to := engine.ParseRef(call.NodeID() + "@" + errorsOutput) // a declared output of this name replaces it
		if err := call.Set(ctx, &to, failures(results)); err != nil {
			return err
		}
	}
	for _, c := range list.outputs() {
		to := engine.ParseRef(call.NodeID() + "@" + c.output) // after what the bodies wrote
		if err := call.Set(ctx, &to, o.collect(results, &c.from)); err != nil {
			return err
		}
	}
	return nil
}

const (
	keepErrors   = "collect"
	errorsOutput = "errors" // with keepErrors: the errors alone
)

// failures lists the elements whose body failed.
func failures(results []engine.ItemResult) engine.Value {
	list := engine.List()
	for i := range results {
		if err := results[i].Err(); err != nil {
			list = list.Append(failure(i, err))
		}
	}
	return list
}

func failure(index int, err error) engine.Value {
	return engine.Object("index", index, "error", err.Error())
}

// collect lists the values of a reference at the end of each body.
func (o *ItemOptions) collect(results []engine.ItemResult, from *engine.Ref) engine.Value {
	list := engine.List()
	for i := range results {
		failed := results[i].Err()
		v, _ := results[i].Output(from)
		switch {
		case failed == nil:
			list = list.Append(v)
		case o.OnError == keepErrors:
			list = list.Append(failure(i, failed))
		}
	}
	return list
}
