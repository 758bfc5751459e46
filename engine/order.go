package engine

import (
	"slices"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// The order in which an eager run settles its nodes depends on how long they took. What a run
// leaves must not: its path, and with it the answer of the run, are put into the order in which
// batches would have settled the same executions.

// way is how one execution of an eager run ended.
type way struct {
	node nodeIndex
	how  scheduler.Outcome
	next []nodeIndex
}

// stretch is what an eager run has done since it began, or since the answers to its forms.
type stretch struct {
	ways   []way
	from   int              // length of the path before
	origin *scheduler.State // where it began
	ran    []bool           // which nodes had run then
}

// beginStretch notes where the run stands before the first node starts.
func (r *run) beginStretch() {
	r.stretch = stretch{from: len(r.st.path), origin: r.sched.State.Clone(), ran: slices.Clone(r.st.ran)}
}

// orderPath puts the path of the stretch into the order of batches.
func (r *run) orderPath() {
	r.st.path = append(r.st.path[:r.stretch.from], r.batchOrder()...)
}

// batchOrder schedules the executions again in batches. What batches would not have run comes last,
// as it was settled.
func (r *run) batchOrder() []nodeIndex {
	var sched scheduler.Scheduler
	sched.Reset(r.c.joinGraph(), slices.Clone(r.stretch.ran))
	sched.Restore(r.stretch.origin)
	queues := make([][]int, len(r.c.nodes)) // by node: its executions
	for i, w := range r.stretch.ways {
		queues[w.node] = append(queues[w.node], i)
	}
	order, placed := make([]nodeIndex, 0, len(r.stretch.ways)), make([]bool, len(r.stretch.ways))
	for len(order) < len(r.stretch.ways) {
		before := len(order)
		for _, n := range slices.Clone(sched.Take()) {
			if len(queues[n]) == 0 {
				sched.Withdraw(n)
				continue
			}
			at := queues[n][0]
			queues[n] = queues[n][1:]
			order, placed[at] = append(order, n), true
			sched.Settle(n, r.stretch.ways[at].how, r.stretch.ways[at].next)
		}
		sched.EndTurns()
		if len(order) == before {
			break
		}
	}
	for i, w := range r.stretch.ways {
		if !placed[i] {
			order = append(order, w.node)
		}
	}
	return order
}
