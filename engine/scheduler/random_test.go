package scheduler_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/scheduler"
)

// seeds is the number of graphs on which each property is tested.
const seeds = 400

// traits are the allowed features of a random graph.
type traits struct {
	choices, bodies, exits, errors, reads bool
}

// drawing is an incomplete random graph. Edges lead from lower to higher indexes, so the only
// cycles are the turns of bodies.
type drawing struct {
	traits
	r     *rand.Rand
	nodes []scheduler.Node
	depth int
}

// draw makes a graph whose node 0 leads, over some way, to every other node outside of bodies.
func draw(seed uint64, t traits) []scheduler.Node {
	d := &drawing{traits: t, r: rand.New(rand.NewPCG(seed, 7))}
	d.level(scheduler.None, 3+d.r.IntN(10))
	if d.exits {
		d.wayOut()
	}
	return d.nodes
}

// wayOut draws an edge from a node of a body to a node after its container.
func (d *drawing) wayOut() {
	from := scheduler.Index(d.r.IntN(len(d.nodes)))
	around := d.nodes[from].Parent
	if around == scheduler.None || d.nodes[from].Chooses || d.nodes[from].Container {
		return
	}
	for to := len(d.nodes) - 1; to > int(from); to-- {
		if d.nodes[to].Parent == d.nodes[around].Parent && !d.nodes[to].Opens {
			d.lead(from, scheduler.Index(to))
			return
		}
	}
}

func (d *drawing) add(parent scheduler.Index) scheduler.Index {
	n := scheduler.Index(len(d.nodes))
	d.nodes = append(d.nodes, scheduler.Node{Parent: parent, Item: scheduler.None})
	if parent != scheduler.None {
		d.nodes[parent].Body = append(d.nodes[parent].Body, n)
	}
	return n
}

// level draws the nodes of one body, or of the graph itself, and returns the first of them.
func (d *drawing) level(parent scheduler.Index, size int) scheduler.Index {
	var own []scheduler.Index
	for i := range size {
		n := d.add(parent)
		own = append(own, n)
		if d.bodies && i > 0 && d.depth < 2 && d.r.IntN(4) == 0 {
			d.depth++
			d.nodes[n].Container, d.nodes[n].Breaks, d.nodes[n].Progresses = true, true, d.r.IntN(2) == 0
			item := d.level(n, 2+d.r.IntN(4))
			d.nodes[n].Item = item
			d.nodes[item].Opens, d.nodes[item].Chooses = true, false
			d.depth--
		}
	}
	for i, n := range own[1:] {
		d.lead(own[d.r.IntN(i+1)], n)
		if d.r.IntN(2) == 0 {
			d.lead(own[d.r.IntN(i+1)], n)
		}
	}
	for _, n := range own[1:] {
		d.character(n)
	}
	return own[0]
}

func (d *drawing) lead(from, to scheduler.Index) {
	if n := &d.nodes[from]; !slices.Contains(n.Down, to) {
		n.Down = append(n.Down, to)
	}
}

// character sets the special properties of a node.
func (d *drawing) character(n scheduler.Index) {
	node := &d.nodes[n]
	if d.reads {
		for range d.r.IntN(3) {
			node.Reads = append(node.Reads, scheduler.Index(d.r.IntN(int(n))))
		}
	}
	if node.Container {
		return
	}
	switch d.r.IntN(6) {
	case 0:
		if d.choices && len(node.Down) > 0 {
			node.Chooses, node.Choices = true, node.Down
		}
	case 1:
		node.Exits = d.exits && node.Parent != scheduler.None
	case 2:
		if d.errors && len(node.Down) > 1 {
			node.OnError, node.Down = node.Down[:1], node.Down[1:]
		}
	}
}

// simulation runs a graph. The outcome of an execution depends only on the seed, the node and the
// number of its executions.
type simulation struct {
	t      *testing.T
	seed   uint64
	eager  bool // take nodes after each settlement, settle in any order
	nodes  []scheduler.Node
	graph  *scheduler.Graph
	sched  scheduler.Scheduler
	ran    []bool
	times  []int                   // executions, by node
	led    []bool                  // by node: a node that ran took a way to it
	cursor map[scheduler.Index]int // turns of open bodies
	steps  int
	trace  []string
	check  func(started []scheduler.Index)
}

func simulate(t *testing.T, seed uint64, traits traits, eager bool) *simulation {
	nodes := draw(seed, traits)
	s := &simulation{
		t: t, seed: seed, eager: eager, nodes: nodes, graph: scheduler.NewGraph(nodes),
		ran: make([]bool, len(nodes)), times: make([]int, len(nodes)),
		led: make([]bool, len(nodes)), cursor: map[scheduler.Index]int{},
	}
	s.sched.Reset(s.graph, s.ran)
	s.sched.Schedule(0)
	return s
}

// fork continues elsewhere from the state alone.
func (s *simulation) fork() *simulation {
	f := *s
	f.ran, f.times, f.trace = slices.Clone(s.ran), slices.Clone(s.times), slices.Clone(s.trace)
	f.led, f.cursor = slices.Clone(s.led), maps.Clone(s.cursor)
	f.sched, f.check = scheduler.Scheduler{}, nil
	f.sched.Reset(f.graph, f.ran)
	f.sched.Restore(s.sched.State.Clone())
	return &f
}

// mostSteps is more than any of these graphs needs.
const mostSteps = 200_000

// play runs to the end; after each step it calls between, if that is given.
func (s *simulation) play(between func()) {
	for s.step() {
		require.Less(s.t, s.steps, mostSteps, "seed %d does not end", s.seed)
		if between != nil {
			between()
		}
	}
}

// step starts the nodes that can start and settles one node. It returns false if no node is left.
func (s *simulation) step() bool {
	if s.eager || len(s.sched.Running) == 0 {
		s.sched.EndTurns()
		started := s.sched.Take()
		if s.check != nil {
			s.check(started)
		}
		s.trace = append(s.trace, fmt.Sprint("start ", started))
	}
	if len(s.sched.Running) == 0 {
		return false
	}
	s.steps++
	at := 0
	if s.eager {
		at = s.dice(len(s.sched.Running), uint64(s.steps))
	}
	n := s.sched.Running[at]
	s.times[n]++
	how, chosen := s.outcome(n)
	for _, to := range s.ways(n, how, chosen) {
		s.led[to] = true
	}
	s.trace = append(s.trace, fmt.Sprint("settle ", n, how, chosen))
	s.sched.Settle(n, how, chosen)
	return true
}

// dice returns a number below n that depends only on the seed of the graph and on what it is for.
func (s *simulation) dice(n int, what ...uint64) int {
	h := fnv.New64a()
	fmt.Fprint(h, s.seed, what)
	return int(h.Sum64() >> 7 % uint64(n))
}

// ways returns the nodes that an execution leads to.
func (s *simulation) ways(n scheduler.Index, how scheduler.Outcome, chosen []scheduler.Index) []scheduler.Index {
	switch how {
	case scheduler.Chosen:
		return chosen
	case scheduler.Recovered:
		return s.nodes[n].OnError
	case scheduler.Followed, scheduler.Turned:
		return s.nodes[n].Down
	}
	return nil
}

func (s *simulation) outcome(n scheduler.Index) (scheduler.Outcome, []scheduler.Index) {
	node := &s.nodes[n]
	roll := s.dice(6, uint64(n), uint64(s.times[n]))
	switch {
	case node.Opens && s.cursor[node.Parent] < s.dice(4, uint64(n), 1<<40):
		s.cursor[node.Parent]++
		return scheduler.Turned, nil
	case node.Opens:
		return scheduler.Ended, nil
	case len(node.OnError) > 0 && roll == 0:
		return scheduler.Recovered, nil
	case node.Chooses:
		return scheduler.Chosen, node.Choices[s.dice(len(node.Choices), uint64(n), uint64(s.times[n])):]
	case node.Container && roll > 0:
		s.cursor[n] = 0
		return scheduler.Opened, nil
	case node.Container:
		return scheduler.Failed, nil
	}
	return scheduler.Followed, nil
}

// policies calls test for each seed, in batches and eagerly.
func policies(t *testing.T, traits traits, test func(s *simulation)) {
	for _, eager := range []bool{false, true} {
		t.Run(fmt.Sprintf("eager=%t", eager), func(t *testing.T) {
			for seed := range uint64(seeds) {
				test(simulate(t, seed, traits, eager))
			}
		})
	}
}

func TestEveryNodeRunsWhereNothingIsChosen(t *testing.T) {
	policies(t, traits{reads: true}, func(s *simulation) {
		s.play(nil)
		for n, times := range s.times {
			require.Positive(s.t, times, "seed %d: node %d did not run", s.seed, n)
		}
	})
}

func TestNodesRunWhenSomethingLeadsToThem(t *testing.T) {
	policies(t, traits{choices: true, errors: true, reads: true}, func(s *simulation) {
		s.led[0] = true
		s.play(nil)
		for n, times := range s.times {
			require.Equal(s.t, s.led[n], times > 0, "seed %d: node %d", s.seed, n)
		}
	})
}

// A node that reads others waits for those that may still come, and for no others: what was missing
// when it first started never comes.
func TestReadersWaitForPendingRecords(t *testing.T) {
	policies(t, traits{choices: true, errors: true, reads: true}, func(s *simulation) {
		missing := map[scheduler.Index]scheduler.Index{} // a node that had not run, and its reader
		s.check = func(started []scheduler.Index) {
			for _, n := range started {
				if reader, ok := missing[n]; ok {
					require.Fail(s.t, "started too early", "seed %d: node %d reads node %d", s.seed, reader, n)
				}
			}
			for _, n := range started {
				for _, read := range s.nodes[n].Reads {
					if !s.ran[read] && s.times[n] == 0 {
						missing[read] = n
					}
				}
			}
		}
		s.play(nil)
		require.Empty(s.t, s.sched.Pending, "seed %d", s.seed)
	})
}

var everything = traits{choices: true, bodies: true, exits: true, errors: true, reads: true}

func TestRunContinuesTheSameFromEachStep(t *testing.T) {
	policies(t, everything, func(s *simulation) {
		var forks []*simulation
		s.play(func() {
			if s.steps < 100 {
				forks = append(forks, s.fork())
			}
		})
		for i, f := range forks {
			f.play(nil)
			require.Equal(s.t, s.trace, f.trace, "seed %d, continued after step %d", s.seed, i+1)
		}
	})
}

func TestNodesOfBodyRunWhileItIsOpen(t *testing.T) {
	policies(t, everything, func(s *simulation) {
		s.check = func(started []scheduler.Index) {
			for _, n := range started {
				for p := s.nodes[n].Parent; p != scheduler.None; p = s.nodes[p].Parent {
					require.True(s.t, s.sched.IsOpen(p), "seed %d: node %d started, body %d is not open", s.seed, n, p)
				}
			}
		}
		s.play(nil)
		require.Empty(s.t, s.sched.Scopes, "seed %d: bodies that did not end", s.seed)
	})
}

// Live decides when a turn is over.
func TestLiveCountsNodesOfBody(t *testing.T) {
	policies(t, everything, func(s *simulation) {
		s.play(func() {
			live := map[scheduler.Index]int{}
			count := func(n scheduler.Index) { live[s.nodes[n].Parent]++ }
			for _, n := range s.sched.Frontier {
				count(n)
			}
			for _, w := range s.sched.Pending {
				count(w.Node)
			}
			for _, n := range s.sched.Running {
				count(n)
			}
			for _, scope := range s.sched.Scopes {
				count(scope.Container)
			}
			for _, scope := range s.sched.Scopes {
				want := live[scope.Container]
				require.Equal(s.t, want, scope.Live, "seed %d, step %d: body %d", s.seed, s.steps, scope.Container)
			}
		})
	})
}

func TestNodeDoesNotRunTwiceAtOnce(t *testing.T) {
	policies(t, everything, func(s *simulation) {
		s.check = func([]scheduler.Index) {
			running := slices.Sorted(slices.Values(s.sched.Running))
			require.Len(s.t, slices.Compact(running), len(s.sched.Running), "seed %d", s.seed)
		}
		s.play(nil)
	})
}
