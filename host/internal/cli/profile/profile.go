// Package profile computes how the time of a run was spent: the chain of executions that the run
// waited for, the shortest time that the dependencies of its nodes allow, the time spent in queues,
// and the time that one more slot would have saved.
//
// A profile is computed from the events of one finished run and the [Graph] of its canvas; nothing
// is measured during the run. The preview page computes the same in TypeScript, since the browser
// module has no room for it (web/run/profile.ts); both are tested with the cases in testdata.
package profile

import (
	"cmp"
	"math"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// Profile describes how the time of a run was spent. Times are seconds; those of steps and spans
// count from the start of the run.
type Profile struct {
	Wall     float64 `json:"wall"`     // from start to end
	Critical float64 `json:"critical"` // the longest chain of work that depends on each other
	Work     float64 `json:"work"`     // of all nodes, without queues
	Queued   float64 `json:"queued"`   // spent in queues, of all nodes
	Slots    int     `json:"slots"`    // the most nodes that worked at once
	// Saved is the time by which the run would have ended sooner with one slot more, if every node
	// had started as soon as its inputs and a slot were available.
	Saved float64 `json:"saved"`
	Path  []Step  `json:"path"`  // executions that the run waited for, the first one first
	Steps []Span  `json:"steps"` // all executions, in the order in which they ended
}

// Step is one execution on the path.
type Step struct {
	Node   string  `json:"node"`
	Run    int     `json:"run"` // which execution of its node, from 1
	Name   string  `json:"name"`
	Start  float64 `json:"start"`  // of its work or of its first queue
	Work   float64 `json:"work"`   // without queues
	Queued float64 `json:"queued"` // in queues
	// Held is the time from the end of its dependencies to Start: for the rest of a batch, a free
	// slot of the run, or the reader of its stream.
	Held float64 `json:"held"`
}

// Span is one execution in time.
type Span struct {
	Node   string       `json:"node"`
	Run    int          `json:"run"`
	Name   string       `json:"name"`
	Items  []int        `json:"items,omitempty"` // indexes of the elements of bodies that run at once, the outer first
	Parent int          `json:"parent"`          // index in Steps of the container around it, or -1
	From   float64      `json:"from"`
	Until  float64      `json:"until"`  // end of its work; its event may come later, with its batch
	Calls  []Call       `json:"calls"`  // each after the call in which it was made
	Queues [][2]float64 `json:"queues"` // waits for slots, from and until
	OnPath bool         `json:"on_path"`
}

// The kinds of calls.
const (
	Model = "model"
	Tool  = "tool"
)

// Call is one call of a model or a tool.
type Call struct {
	Kind  string  `json:"kind"`  // Model or Tool
	Name  string  `json:"name"`  // of the model, or of the tool in the canvas
	Depth int     `json:"depth"` // the number of calls of agents around it
	From  float64 `json:"from"`
	Until float64 `json:"until"`
}

// Of computes the profile of a run from its events; those it does not need are skipped. It is the
// zero Profile if no node has finished.
func Of(events []engine.Value, graph Graph) Profile {
	r := read(events, graph)
	if len(r.all) == 0 {
		return Profile{}
	}
	r.link()
	p := Profile{Wall: r.until - r.from, Steps: make([]Span, len(r.all))}
	for _, e := range r.all {
		if !e.container {
			p.Work += e.work()
			p.Queued += e.queued()
		}
		p.Critical = max(p.Critical, e.chain())
	}
	p.Slots = r.slots()
	p.Saved = max(0, r.simulate(p.Slots)-r.simulate(p.Slots+1))
	p.Path = r.path()
	for i, e := range r.all {
		p.Steps[i] = e.span(r.from)
	}
	p.round()
	return p
}

// path walks back from the execution that ended last: each waited for its dependencies, longest for
// the one that ended last.
func (r *run) path() []Step {
	path := []Step{}
	for e := r.last(r.all); e != nil && !e.onPath; e = r.last(e.deps) {
		e.onPath = true
		path = append(path, Step{
			Node: e.node, Run: e.number, Name: e.name, Start: e.begin - r.from,
			Work: e.work(), Queued: e.queued(), Held: max(0, e.begin-r.ready(e)),
		})
	}
	slices.Reverse(path)
	return path
}

// ready returns the time at which the last dependency of an execution ended, or the run began.
func (r *run) ready(e *execution) float64 {
	at := r.from
	for _, d := range e.deps {
		at = max(at, d.end)
	}
	return at
}

// last returns the execution that ended last; of bodies it is the last one inside.
func (r *run) last(among []*execution) *execution {
	var last *execution
	for _, e := range among {
		if last == nil || e.end > last.end || e.end == last.end && e.index > last.index {
			last = e
		}
	}
	if last != nil && last.container && len(last.inner) > 0 {
		return r.last(last.inner)
	}
	return last
}

// chain returns the longest chain of work that ends with an execution.
func (e *execution) chain() float64 {
	if e.linked {
		return e.longest // also of a cycle, which events with equal times can show
	}
	e.linked = true
	before := 0.0
	for _, d := range e.deps {
		before = max(before, d.chain())
	}
	for _, d := range e.inner {
		before = max(before, d.chain())
	}
	e.longest = before
	if !e.container {
		e.longest += e.work()
	}
	return e.longest
}

func (e *execution) span(from float64) Span {
	s := Span{
		Node: e.node, Run: e.number, Name: e.name, Items: e.items, Parent: -1, From: e.from - from, Until: e.end - from,
		OnPath: e.onPath, Calls: e.callTree(from), Queues: [][2]float64{},
	}
	if e.outer != nil {
		s.Parent = e.outer.index
	}
	for _, q := range e.queues {
		s.Queues = append(s.Queues, [2]float64{q.from - from, q.until - from})
	}
	return s
}

// callTree returns the calls in the order of their starts, those of an agent after the call of that
// agent.
func (e *execution) callTree(from float64) []Call {
	list := []Call{}
	slices.SortStableFunc(e.calls, func(a, b call) int { return cmp.Compare(a.from, b.from) })
	parents := make([]int, len(e.calls))
	for i := range e.calls {
		parents[i] = e.callerOf(i)
	}
	var add func(parent, depth int)
	add = func(parent, depth int) {
		for i, c := range e.calls {
			if parents[i] == parent {
				list = append(list, Call{c.kind, c.name, depth, c.from - from, c.until - from})
				add(i, depth+1)
			}
		}
	}
	add(-1, 0)
	return list
}

// callerOf returns the index of the call of an agent in which a call was made, or -1.
func (e *execution) callerOf(i int) int {
	c := e.calls[i]
	return slices.IndexFunc(e.calls, func(d call) bool {
		return d.kind == Tool && c.agent == d.agent+"-->"+d.name &&
			d.from <= c.from+tolerance && c.until <= d.until+tolerance
	})
}

// micros rounds to the microseconds that events have.
func micros(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }

func (p *Profile) round() {
	for _, f := range [...]*float64{&p.Wall, &p.Critical, &p.Work, &p.Queued, &p.Saved} {
		*f = micros(*f)
	}
	for i := range p.Path {
		s := &p.Path[i]
		s.Start, s.Work, s.Queued, s.Held = micros(s.Start), micros(s.Work), micros(s.Queued), micros(s.Held)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		s.From, s.Until = micros(s.From), micros(s.Until)
		for j, q := range s.Queues {
			s.Queues[j] = [2]float64{micros(q[0]), micros(q[1])}
		}
		for j := range s.Calls {
			s.Calls[j].From, s.Calls[j].Until = micros(s.Calls[j].From), micros(s.Calls[j].Until)
		}
	}
}
