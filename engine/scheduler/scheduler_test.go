package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/scheduler"
)

type (
	list  = []scheduler.Index
	nodes = []scheduler.Node
)

// outside places nodes in no body.
func outside(list ...scheduler.Node) []scheduler.Node {
	for i := range list {
		list[i].Parent, list[i].Item = scheduler.None, scheduler.None
	}
	return list
}

// begin schedules node 0 of a graph.
func begin(nodes []scheduler.Node) *scheduler.Scheduler {
	s := &scheduler.Scheduler{}
	s.Reset(scheduler.NewGraph(nodes), make([]bool, len(nodes)))
	s.Schedule(0)
	return s
}

// batch takes nodes, settles all of them with their edges, and returns them.
func batch(s *scheduler.Scheduler) list {
	taken := s.Take()
	for _, n := range taken {
		s.Settle(n, scheduler.Followed, nil)
	}
	s.EndTurns()
	return taken
}

// batches returns those of a run, all edges taken.
func batches(s *scheduler.Scheduler) []list {
	var all []list
	for {
		taken := batch(s)
		if len(taken) == 0 {
			return all
		}
		all = append(all, append(list(nil), taken...))
	}
}

func TestTake(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes nodes
		want  []list
	}{
		{"edges in order", nodes{{Down: list{2, 1}}, {Down: list{3}}, {}, {}}, []list{{0}, {2, 1}, {3}}},
		{
			"two edges into one node of the next batch",
			nodes{{Down: list{1, 2}}, {Down: list{3}}, {Down: list{3}}, {}},
			[]list{{0}, {1, 2}, {3}},
		},
		{"paths of different length", nodes{{Down: list{1, 2}}, {Down: list{2}}, {}}, []list{{0}, {1, 2}, {2}}},
		{
			"a join waits for its inputs",
			nodes{{Down: list{1, 2}}, {Down: list{3}}, {Reads: list{3}}, {}},
			[]list{{0}, {1}, {3}, {2}},
		},
		{
			"a waiting node comes first",
			nodes{{Down: list{1, 2}}, {Down: list{3}}, {Reads: list{1}}, {}},
			[]list{{0}, {1}, {2, 3}},
		},
		{"unreachable inputs are not awaited", nodes{{Down: list{1}}, {Reads: list{2}}, {}}, []list{{0}, {1}}},
		{
			"two nodes that wait for each other",
			nodes{{Down: list{1, 2}}, {Down: list{3}, Reads: list{4}}, {Down: list{4}, Reads: list{3}}, {}, {}},
			[]list{{0}, {1}, {3}, {2}, {4}},
		},
		{"a node that references itself", nodes{{Down: list{1}}, {Reads: list{1}}}, []list{{0}, {1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, batches(begin(outside(c.nodes...))))
		})
	}
}

func TestSourceThatIsScheduledLateIsWaitedFor(t *testing.T) {
	s := begin(outside(nodes{{Down: list{1, 3}}, {Down: list{4}}, {}, {Reads: list{4, 2}}, {}}...))
	require.Equal(t, list{0}, batch(s))
	require.Equal(t, list{1}, batch(s))
	require.Equal(t, list{4}, s.Take())
	s.Schedule(2) // nothing leads there
	s.Settle(4, scheduler.Followed, nil)
	require.Equal(t, []list{{2}, {3}}, batches(s))
}

func TestChoiceEndsTheWait(t *testing.T) {
	s := begin(outside(nodes{{Down: list{1, 2}}, {Chooses: true, Choices: list{3, 4}}, {Reads: list{3}}, {}, {}}...))
	batch(s)
	require.Equal(t, list{1}, s.Take())
	require.True(t, s.IsPending(2))
	s.Settle(1, scheduler.Chosen, list{4})
	require.Equal(t, list{2, 4}, s.Take())
	require.False(t, s.IsPending(2))
}

func TestErrorHandlerReplacesEdges(t *testing.T) {
	s := begin(outside(nodes{{Down: list{1}, OnError: list{2}}, {}, {}}...))
	s.Take()
	s.Settle(0, scheduler.Recovered, nil)
	require.Equal(t, []list{{2}}, batches(s))
	s.ScheduleOnError(0)
	require.Equal(t, []list{{2}}, batches(s))
}

func TestStoppedNodeFollowsNoEdge(t *testing.T) {
	s := begin(outside(nodes{{Down: list{1}}, {}}...))
	s.Take()
	s.Settle(0, scheduler.Stopped, nil)
	require.Empty(t, batches(s))
}

// loop returns a node, a container with a body of two, a node after the container, and one parallel
// to it.
func loop() nodes {
	list := outside(nodes{
		{Down: list{1, 5}},
		{Down: list{4}, Container: true, Breaks: true, Body: list{2, 3}},
		{Opens: true, Down: list{3}},
		{},
		{},
		{},
	}...)
	list[1].Item, list[2].Parent, list[3].Parent = 2, 1, 1
	return list
}

// enter runs until the first turn of the body of loop has begun.
func enter(t *testing.T, s *scheduler.Scheduler) {
	require.Equal(t, list{0}, batch(s))
	require.Equal(t, list{1, 5}, s.Take())
	s.Settle(1, scheduler.Opened, nil)
	s.Settle(5, scheduler.Followed, nil)
	s.EndTurns()
	require.True(t, s.IsOpen(1))
	require.Equal(t, list{2}, s.Take())
}

func TestBodyTurnsUntilItEnds(t *testing.T) {
	s := begin(loop())
	enter(t, s)
	for range 3 {
		s.Settle(2, scheduler.Turned, nil)
		require.Equal(t, list{3}, batch(s))
		require.Equal(t, list{2}, s.Take())
	}
	s.ResetChanges()
	s.Settle(2, scheduler.Ended, nil)
	require.Equal(t, list{1}, s.Changes().Ended)
	require.False(t, s.IsOpen(1))
	require.Equal(t, []list{{4}}, batches(s))
}

func TestContainerScheduledWhileOpenStartsAgain(t *testing.T) {
	s := begin(loop())
	enter(t, s)
	s.Schedule(1)
	s.Settle(2, scheduler.Ended, nil)
	require.Equal(t, list{4, 1}, s.Take())
}

func TestEdgeOutOfBodyEndsIt(t *testing.T) {
	n := loop()
	n[2].Down = list{3, 4}
	s := begin(n)
	enter(t, s)
	s.Settle(2, scheduler.Turned, nil)
	require.False(t, s.IsOpen(1))
	require.Equal(t, []list{{4}}, batches(s))
}

func TestFailedContainerIsNotEntered(t *testing.T) {
	s := begin(loop())
	batch(s)
	s.Take()
	s.Settle(1, scheduler.Failed, nil)
	s.Settle(5, scheduler.Followed, nil)
	require.Equal(t, []list{{4}}, batches(s))
}

func TestCountRestartsWithTurnThatProgresses(t *testing.T) {
	for _, progresses := range []bool{true, false} {
		n := loop()
		n[1].Progresses = progresses
		s := begin(n)
		require.Equal(t, 1, s.Count(0))
		enter(t, s)
		require.Equal(t, 1, s.Count(2))
		s.Settle(2, scheduler.Turned, nil)
		require.Equal(t, map[bool]int{true: 1, false: 2}[progresses], s.Count(3))
		require.Equal(t, 2, s.Count(5))
	}
}

func TestWithdrawnNodeIsScheduledAgain(t *testing.T) {
	s := begin(loop())
	enter(t, s)
	s.Withdraw(2)
	require.Equal(t, 0, s.Scopes[0].Live)
	s.Withdraw(2) // it does not run any more
	require.Equal(t, 0, s.Scopes[0].Live)
	s.Schedule(2)
	require.Equal(t, 1, s.Scopes[0].Live)
	require.Equal(t, list{2}, s.Take())
}

func TestChangesListWaitingNodes(t *testing.T) {
	s := begin(outside(nodes{{Down: list{1, 2}}, {}, {Reads: list{1}}}...))
	batch(s)
	s.ResetChanges()
	batch(s)
	require.Equal(t, list{2}, list{s.Changes().Held[0].Node})
	require.Empty(t, s.Changes().Woken)
	s.ResetChanges()
	batch(s)
	require.Equal(t, list{2}, s.Changes().Woken)
}

func TestReach(t *testing.T) {
	g := scheduler.NewGraph(loop())
	require.Equal(t, []bool{true, true, true, true, true, true}, g.Reach(0))
	require.Equal(t, []bool{false, false, true, true, true, false}, g.Reach(2))
	require.True(t, g.Encloses(1, 3))
	require.False(t, g.Encloses(1, 4))
}

func TestComponents(t *testing.T) {
	edges := map[scheduler.Index]list{0: {1}, 1: {2}, 2: {1, 3}, 3: {}}
	order := scheduler.Components(4, func(n scheduler.Index) []scheduler.Index { return edges[n] })
	require.Equal(t, []int{2, 1, 1, 0}, order)
}
