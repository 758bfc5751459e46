package profile

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

// run is a run as its events describe it. Times are Unix seconds.
type run struct {
	graph       Graph
	from, until float64
	all         []*execution
	byNode      map[string][]*execution
}

// execution is one execution of a node.
type execution struct {
	index       int // in run.all
	node, name  string
	number      int    // among those of its node, from 1
	items       []int  // indexes of the elements of bodies that run at once, the outer body first
	path        string // items as text, "2/0/"
	from, until float64
	begin, end  float64 // of its work; of its first queue, if that came before
	calls       []call
	queues      []interval // without overlaps, in order
	container   bool
	outer       *execution         // the container around it
	deps        []*execution       // executions it depends on
	inner       []*execution       // of a container: the executions inside
	ends        map[string]float64 // of a container: the end of each element, by path

	linked  bool // longest is set
	longest float64
	onPath  bool
}

type interval struct{ from, until float64 }

// call is a call of a model or a tool.
type call struct {
	interval
	kind, name string
	agent      string // the path of agents that made it
}

// tolerance is the largest difference of two equal times, in seconds: events have them in
// microseconds.
const tolerance = 2e-6

func read(events []engine.Value, graph Graph) *run {
	r := &run{graph: graph, byNode: map[string][]*execution{}}
	for _, e := range events {
		if engine.EventType(e.Get("event").Str()) == engine.EventNodeFinished {
			r.finished(e.Get("data"))
		}
	}
	if len(r.all) == 0 {
		return r
	}
	r.from, r.until = r.all[0].from, r.all[0].until
	for _, e := range r.all {
		r.from, r.until = min(r.from, e.from), max(r.until, e.until)
	}
	for _, e := range events {
		r.detail(engine.EventType(e.Get("event").Str()), e.Get("data"))
	}
	for _, e := range r.all {
		e.settle()
	}
	return r
}

func number(v engine.Value) float64 {
	f, _ := v.Float()
	return f
}

func (r *run) finished(data engine.Value) {
	e := &execution{index: len(r.all), node: data.Get("component_id").Str(), name: data.Get("component_name").Str()}
	e.until = number(data.Get("created_at"))
	e.from = e.until - number(data.Get("elapsed_time"))
	if start, ok := data.Get("outputs").Get("_created_time").Float(); ok {
		e.from = min(start, e.until)
	}
	e.end = e.until
	e.items, e.path = itemsOf(data)
	e.container = r.graph.isParent(e.node)
	r.byNode[e.node] = append(r.byNode[e.node], e)
	e.number = len(r.byNode[e.node])
	r.all = append(r.all, e)
}

// itemsOf returns the index path of an event.
func itemsOf(data engine.Value) (items []int, path string) {
	for _, v := range data.Get("index_path").Elements() {
		i, _ := v.Int()
		items = append(items, int(i))
		path += strconv.Itoa(int(i)) + "/"
	}
	return items, path
}

// detail adds a call or a queue to its execution, or records the end of the run.
func (r *run) detail(typ engine.EventType, data engine.Value) {
	until := number(data.Get("created_at"))
	part := interval{until - number(data.Get("elapsed_time")), until}
	switch typ {
	case engine.EventWorkflowFinished:
		r.until = max(r.until, until)
		r.from = min(r.from, part.from)
	case engine.EventUsage, engine.EventToolFinished, engine.EventQueued, engine.EventWorked:
		_, path := itemsOf(data)
		e := r.around(data.Get("component_id").Str(), path, until)
		if e == nil || until == 0 {
			return // of a node that has not finished, or an entry without times
		}
		switch typ {
		case engine.EventWorked:
			e.end = until // node_finished comes with the rest of the batch
		case engine.EventQueued: // in eager runs, before the node starts
			e.queues = append(e.queues, part)
		default:
			e.called(typ, data, part)
		}
	}
}

// called adds a call to its execution. Steps of an agent itself, which name no tool, are left out.
func (e *execution) called(typ engine.EventType, data engine.Value, part interval) {
	part.from = max(part.from, e.from)
	c := call{part, Model, data.Get("model").Str(), data.Get("path").Str()}
	if typ == engine.EventToolFinished {
		if c.kind, c.name = Tool, data.Get("tool").Str(); c.name == "" {
			return
		}
	}
	e.calls = append(e.calls, c)
}

// around returns the execution of a node, for an element of a body, that was active at a time.
func (r *run) around(node, path string, at float64) *execution {
	for _, e := range r.byNode[node] {
		if e.path == path && e.from-tolerance <= at && at <= e.until+tolerance {
			return e
		}
	}
	return nil
}

// settle joins queues that overlap and finds when the work began: a streamed answer is requested
// when its reader is reached, which may be long after its node started.
func (e *execution) settle() {
	e.queues = joined(e.queues)
	e.begin = e.end
	for _, c := range e.calls {
		e.begin = min(e.begin, c.from)
	}
	for _, q := range e.queues {
		e.begin = min(e.begin, q.from)
	}
	if len(e.calls)+len(e.queues) == 0 {
		e.begin = e.from
	}
}

// joined returns intervals in order, those that overlap as one.
func joined(list []interval) []interval {
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	out := list[:0]
	for _, i := range list {
		if n := len(out); n > 0 && i.from <= out[n-1].until {
			out[n-1].until = max(out[n-1].until, i.until)
			continue
		}
		out = append(out, i)
	}
	return out
}

// queued returns the time the execution spent in queues since its work began.
func (e *execution) queued() float64 {
	sum := 0.0
	for _, q := range e.queues {
		sum += max(0, min(q.until, e.end)-max(q.from, e.begin))
	}
	return sum
}

// work returns the time the execution worked, without queues.
func (e *execution) work() float64 { return max(0, e.end-e.begin-e.queued()) }

// active returns the times at which the execution worked: since begin, without queues.
func (e *execution) active() []interval {
	var out []interval
	at := e.begin
	for _, q := range e.queues {
		if q.from > at {
			out = append(out, interval{at, q.from})
		}
		at = max(at, q.until)
	}
	if e.end > at {
		out = append(out, interval{at, e.end})
	}
	return out
}
