package component_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/engine/offline"
)

// peak is an engine.Budget that records its maximum.
type peak struct {
	mu        sync.Mutex
	now, most int64
	limit     int64 // 0 is none
}

func (p *peak) Grow(n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit > 0 && n > 0 && p.now+n > p.limit {
		return fmt.Errorf("%d bytes are used", p.now)
	}
	p.now += n
	p.most = max(p.most, p.now)
	return nil
}

// doubling returns forty nodes, each with twice the text of the one before it.
func doubling(first, node string) []string {
	lines := []string{"begin Begin -> " + "N0", "N0 " + first + " -> N1"}
	for i := 1; i <= 40; i++ {
		n, edge := fmt.Sprintf("N%d", i), ""
		if i < 40 {
			edge = fmt.Sprintf(" -> N%d", i+1)
		}
		lines = append(lines, n+" "+strings.ReplaceAll(node, "PREV", fmt.Sprintf("N%d", i-1))+edge)
	}
	return lines
}

// turned returns an assignment to env.x in each of forty turns of a loop.
func turned(start string, assignments ...string) []string {
	return []string{
		"=env.x " + start, "=env.forty [" + strings.Repeat("1,", 39) + "1]",
		"begin Begin -> L", `L Iteration {"items_ref": "env.forty"}`, "I IterationItem -> A ^ L",
		`A VariableAssigner {"variables": [` + strings.Join(assignments, ",") + `]} ^ L`,
	}
}

// grows are canvases of some hundred bytes each whose values exceed any memory.
var grows = map[string][]string{
	"text": doubling(`StringTransform {"method":"merge","script":"xxxxxxxx"}`,
		`StringTransform {"method":"merge","script":"{PREV@result}{PREV@result}"}`),
	"message": doubling(`Message {"content":"xxxxxxxx"}`, `Message {"content":"{PREV@content}{PREV@content}"}`),
	"template": doubling(`Message {"content":"xxxxxxxx"}`,
		`Message {"content":"{% if 1 %}{PREV@content}{PREV@content}{% endif %}"}`),
	"list": doubling(`ListOperations {"query":"env.one"}`,
		`StringTransform {"method":"merge","script":"[{PREV@result},{PREV@result}]"}`),
	"assigned text": turned(`"xxxxxxxx"`,
		`{"variable":"env.x","operator":"set","parameter":"{env.x}{env.x}"}`),
	"extended list": turned(`[1,2,3]`, `{"variable":"env.x","operator":"extend","parameter":"env.x"}`),
	"deep list": turned(`[]`, `{"variable":"env.x","operator":"append","parameter":"env.x"}`,
		`{"variable":"env.x","operator":"append","parameter":"env.x"}`),
	"object": turned(`{"a":1}`, `{"variable":"env.x.a","operator":"overwrite","parameter":"env.x"}`,
		`{"variable":"env.x.b","operator":"overwrite","parameter":"env.x"}`),
	"collected": {
		"=env.x [[1,2,3,4,5,6,7,8],[2],[3],[4],[5],[6],[7],[8]]", "begin Begin -> A",
		`A Iteration {"items_ref":"env.x","outputs":{"out":{"ref":"S@result"}}} -> V`,
		`AI IterationItem -> S ^ A`, `S StringTransform {"method":"merge","script":"{env.x}{env.x}"} ^ A`,
		`V VariableAssigner {"variables":[{"variable":"env.x","operator":"overwrite","parameter":"A@out"}]} -> A`,
	},
	"template loops": {"begin Begin -> M", `M Message {"content":"{% for a in range(100000) %}{% for b in ` +
		`range(100000) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}{% endfor %}"}`},
	"template repeat": {"begin Begin -> M", `M Message {"content":"{% set x = 'x' * 16000000 %}{% for a in ` +
		`range(100) %}{{ (x ~ a)|length }}{% endfor %}"}`},
	"join": {
		"begin Begin -> S", `S StringTransform {"method":"split","split_ref":"sys.query","delimiters":[","]} -> T`,
		`T StringTransform {"method":"merge","script":"{S@result}","delimiters":["` + strings.Repeat("-", 4000) + `"]}`,
	},
	"split": {
		"begin Begin -> S",
		`S StringTransform {"method":"split","split_ref":"sys.query","delimiters":["a","b",","]}`,
	},
}

func grown(t testing.TB, name string) *engine.Canvas {
	t.Helper()
	c, err := engine.Load(registry(t), sketch.Bytes(append([]string{`=env.one [1]`}, grows[name]...)...))
	require.NoError(t, err)
	return c
}

// query is the query for the canvases of grows.
var query = engine.String(strings.Repeat(",", 12<<20))

func TestGrowingCanvasEndsByLimit(t *testing.T) {
	for name := range grows {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "text" && name != "list" {
				t.Skip("allocates hundreds of megabytes")
			}
			t.Parallel()
			in := engine.Input{}
			if name == "join" || name == "split" {
				in.Query = query
			}
			budget := &peak{}
			ports := engine.Ports{Model: &offline.Model{}, Budget: budget}
			err := last(grown(t, name), in, engine.Options{Ports: ports})
			require.ErrorIs(t, err, engine.ErrLimit)
			require.NotEqual(t, "limit_reached", engine.CodeOf(err), err)
			require.Contains(t, err.Error(), "--limit ", "the error names what raises the limit")
			require.Less(t, budget.most, int64(200<<20), err)
			require.Zero(t, budget.now, "the run gives its memory back")
		})
	}
}

// last runs a canvas and returns its error.
func last(c *engine.Canvas, in engine.Input, opt engine.Options) (err error) {
	for _, err = range c.Run(context.Background(), c.State(), in, opt) {
	}
	return err
}

func TestLimitIsTheNodesError(t *testing.T) {
	s := play(t, engine.Input{}, engine.Ports{},
		append(doubling(`StringTransform {"method":"merge","script":"xxxxxxxx"}`,
			`StringTransform {"method":"merge","script":"{PREV@result}{PREV@result}","exception_method":"goto","exception_goto":["M"]}`),
			`M Message {"content":"too long"}`)...)
	require.NoError(t, s.err)
	require.Equal(t, "too long", s.said)
	require.Contains(t, s.outputs["N22"].Get("_ERROR").Str(),
		"text is too large: 33554432 exceeds the limit of 16777216")
}

func TestBudgetRefusesNode(t *testing.T) {
	budget := &peak{limit: 4 << 20}
	err := last(grown(t, "text"), engine.Input{}, engine.Options{Ports: engine.Ports{Budget: budget}})
	require.ErrorIs(t, err, engine.ErrHostMemory)
	require.Equal(t, "host_memory", engine.CodeOf(err))
	require.LessOrEqual(t, budget.most, budget.limit)
	require.Zero(t, budget.now)
}

// TestLimitErrorsContinue checks that a run continued from any checkpoint ends with the error of
// the whole run.
func TestLimitErrorsContinue(t *testing.T) {
	limits := engine.Limits{Text: 1 << 16, Output: 1 << 17, State: 1 << 18, Event: 1 << 18, Events: 1 << 19}
	for name := range grows {
		if name == "join" || name == "split" || name == "template repeat" {
			continue // they fail in their first batch
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := grown(t, name)
			opt := engine.Options{
				Ports: engine.Ports{Model: &offline.Model{}}, Checkpoints: true, Limits: limits, Seed: 1,
				SnapshotBytes: 1 << 30, TaskID: "t",
			}
			var log []*engine.Event
			var want error
			for e, err := range c.Run(t.Context(), c.State(), engine.Input{}, opt) {
				if want = err; err == nil {
					log = append(log, e.Clone())
				}
			}
			require.ErrorIs(t, want, engine.ErrLimit)
			for i, e := range log {
				if e.Type != engine.EventCheckpoint || i%3 > 0 {
					continue
				}
				st, err := c.StateAt(log, e.Seq)
				require.NoError(t, err)
				var got error
				for _, got = range c.Continue(t.Context(), st, opt) {
				}
				require.EqualError(t, got, want.Error(), "continued after entry %d", e.Seq)
			}
		})
	}
}

// TestRandomCanvasesStayWithinLimits checks that the reservations of any run exceed its limits by a
// small factor at most.
func TestRandomCanvasesStayWithinLimits(t *testing.T) {
	const kib = 1 << 10
	limits := engine.Limits{
		Text: 256 * kib, Output: 512 * kib, State: kib * kib, Event: kib * kib,
		Events: 4 * kib * kib,
	}
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	for seed := range uint64(rounds) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		lines := []string{
			`=env.x "xxxxxxxxxxxxxxxx"`, `=env.l [1,2,3]`, `=env.o {"a": "xxxxxxxx"}`,
			"begin Begin -> N0",
		}
		refs := []string{"env.x", "env.l", "env.o"}
		for i := range 60 {
			ref := func() string { return refs[rnd.IntN(len(refs))] }
			text := strings.Repeat("{"+ref()+"}", 1+rnd.IntN(3)) + "{" + ref() + "}"
			node := [...]string{
				`StringTransform {"method":"merge","script":"` + text + `","delimiters":["` +
					strings.Repeat(",", 1+rnd.IntN(9)) + `"]}`,
				`Message {"content":"` + text + `"}`,
				`Message {"content":"{% for i in range(9) %}` + text + `{% endfor %}"}`,
				`VariableAssigner {"variables":[{"variable":"env.x","operator":"set","parameter":"` + text + `"}]}`,
				`VariableAssigner {"variables":[{"variable":"env.l","operator":"extend","parameter":"env.l"}]}`,
				`VariableAssigner {"variables":[{"variable":"env.o.k` + fmt.Sprint(i) +
					`","operator":"overwrite","parameter":"` + ref() + `"}]}`,
				`LLM {"sys_prompt":"` + text + `"}`,
			}[rnd.IntN(7)]
			lines = append(lines, fmt.Sprintf("N%d %s -> N%d", i, node, i+1))
			if strings.HasPrefix(node, "StringTransform") {
				refs = append(refs, fmt.Sprintf("N%d@result", i))
			}
		}
		lines = append(lines, `N60 Message {"content":"end"}`)
		c, err := engine.Load(registry(t), sketch.Bytes(lines...))
		require.NoError(t, err)
		budget := &peak{}
		err = last(c, engine.Input{}, engine.Options{Limits: limits, Ports: engine.Ports{Model: &offline.Model{}, Budget: budget}})
		if err != nil {
			require.ErrorIs(t, err, engine.ErrLimit, "seed %d", seed)
		}
		require.LessOrEqual(t, budget.most, 3*limits.State, "seed %d: %v", seed, err)
		require.Zero(t, budget.now, "seed %d", seed)
	}
}
