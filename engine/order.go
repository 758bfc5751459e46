package engine

import (
	"slices"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// The order in which an eager run settles its nodes depends on their durations. The final state
// must not: the path, and with it the answer of the run, are sorted into the order in which batches
// would have settled the same executions.

// way is the outcome of one execution of an eager run.
type way struct {
	node nodeIndex
	how  scheduler.Outcome
	next []nodeIndex
}

// stretch is the part of an eager run since its start, or since the answers to its forms.
type stretch struct {
	ways   []way
	from   int              // length of the path before
	origin *scheduler.State // where it began
	ran    []bool           // which nodes had run then
}

// beginStretch records the position of the run before the first node starts.
func (e *eager) beginStretch() {
	e.stretch = stretch{from: len(e.st.path), origin: e.sched.State.Clone(), ran: slices.Clone(e.st.ran)}
}

// orderPath puts the path of the stretch into the order of batches.
func (e *eager) orderPath() {
	e.st.path = append(e.st.path[:e.stretch.from], e.stretch.batchOrder(e.c)...)
}

// batchOrder schedules the executions again in batches. Executions that batches would not have run
// come last, in the order of settlement.
func (x *stretch) batchOrder(c *Canvas) []nodeIndex {
	var sched scheduler.Scheduler
	sched.Reset(joinGraph(c), slices.Clone(x.ran))
	sched.Restore(x.origin)
	queues := make([][]int, len(c.nodes)) // by node: its executions
	for i, w := range x.ways {
		queues[w.node] = append(queues[w.node], i)
	}
	order, placed := make([]nodeIndex, 0, len(x.ways)), make([]bool, len(x.ways))
	for len(order) < len(x.ways) {
		before := len(order)
		for _, n := range slices.Clone(sched.Take()) {
			if len(queues[n]) == 0 {
				sched.Withdraw(n)
				continue
			}
			at := queues[n][0]
			queues[n] = queues[n][1:]
			order, placed[at] = append(order, n), true
			sched.Settle(n, x.ways[at].how, x.ways[at].next)
		}
		sched.EndTurns()
		if len(order) == before {
			break
		}
	}
	for i, w := range x.ways {
		if !placed[i] {
			order = append(order, w.node)
		}
	}
	return order
}
