package enginetest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// TestAutoIsNotObserved runs random canvases of every kind of node, with forward references, ways
// back and failing models, whose order is proved to be of no effect: in batches and as proved,
// clients and model servers observe the same.
func TestAutoIsNotObserved(t *testing.T) {
	reg := registry2(t, registry(t))
	proved, all := 0, eagerSeeds(t, 300)
	for seed := range all {
		s := &sketcher{r: rand.New(rand.NewPCG(seed, 7)), fails: map[string]bool{}}
		s.outs = []string{"sys.query", "env.n"}
		dsl := sketch.Bytes(s.draw()...)
		canvas, err := engine.Load(reg, dsl)
		require.NoError(t, err, "%s", dsl)
		if engine.OrderOf(canvas) != engine.Eager {
			continue
		}
		proved++
		for _, query := range queries {
			for x := range timing(3) {
				want := observe(t, dsl, s.fails, query, x, engine.Batch)
				if want.failed {
					continue // what else was under way is cut short in an eager run
				}
				got := observe(t, dsl, s.fails, query, x, engine.Auto)
				require.Equal(t, want, got, "seed %d, query %s, timing %d\n%s", seed, query, x, dsl)
			}
		}
	}
	t.Logf("%d of %d proved", proved, all)
	require.Positive(t, proved)
}

// sketcher draws a random canvas as lines for [sketch.Bytes].
type sketcher struct {
	r     *rand.Rand
	nodes []*sketched
	outs  []string        // references to what was drawn so far
	fails map[string]bool // models whose answers break off; they have a default
}

// sketched is a node. A Switch and a Categorize have their params when what follows them is known.
type sketched struct {
	id, kind, params, parent string
	down                     []string
	reads                    string // of a choice
}

// kindsDrawn are the kinds of nodes; the more often, the more likely.
var kindsDrawn = strings.Fields("LLM LLM LLM LLM StringTransform Switch Categorize VariableAggregator " +
	"VariableAggregator Retrieval Message EchoTool VariableAssigner UserFillUp Iteration Loop")

// paramsDrawn are params by kind, in which %n is a number, %r a random reference, %e how errors are
// handled, and %a and %b are the choices of a node that reads %c.
var paramsDrawn = map[string]string{
	"StringTransform":    `{"method":"merge","script":"x{%r} y{%r}","delimiters":[","]}`,
	"Message":            `{"content":["m%n {%r} {%r}"]}`,
	"VariableAggregator": `{"groups":[{"group_name":"g","variables":[{"value":"%r"},{"value":"%r"}]}]}`,
	"Retrieval":          `{"query":"{%r}","kb_ids":["k%n"],"empty_response":"none"}`,
	"EchoTool":           `{"query":"{%r}","default_reply":"echo","sleep_ms":%n}`,
	"VariableAssigner":   `{"variables":[{"variable":"env.n","operator":"overwrite","parameter":"%r"}]}`,
	"UserFillUp":         `{"enable_tips":true,"tips":"{%r}","inputs":{"f":{"name":"f","type":"line"}}}`,
	"LLM": `{"llm_id":"m","cite":false,"sys_prompt":"{%r}","prompts":[{"role":"user","content":"{%r}"}],` +
		`"exception_method":"%e","exception_default_value":"instead"}`,
	"Iteration": `{"items_ref":"begin@items","outputs":{"out":{"ref":"%r"}}}`,
	"Loop": `{"loop_variables":[{"variable":"n","input_mode":"constant","value":0,"type":"number"}],` +
		`"loop_termination_condition":[{"variable":"env.n","operator":"=","value":3,"input_mode":"constant"}],` +
		`"maximum_loop_count":2,"logical_operator":"and"}`,
	"Switch": `{"conditions":[{"items":[{"cpn_id":"%c","operator":"contains","value":"a"}],"to":["%a"]}],` +
		`"end_cpn_ids":["%b"]}`,
	"Categorize": `{"llm_id":"m","query":"%c","category_description":{"a":{"to":["%a"]},"b":{"to":["%b"]}}}`,
}

// outputDrawn is the output to which others refer.
var outputDrawn = map[string]string{
	"StringTransform": "result", "Message": "content", "LLM": "content", "VariableAggregator": "g",
	"Retrieval": "content", "EchoTool": "formalized_content", "UserFillUp": "f", "Iteration": "out",
}

func (s *sketcher) draw() []string {
	s.nodes = []*sketched{{id: "begin", kind: "Begin", params: "{}"}}
	s.body(s.nodes[0], 2+s.r.IntN(7))
	lines := []string{"=env.n 0"}
	for _, n := range s.nodes {
		line := n.id + " " + n.kind + " " + n.params
		if len(n.down) > 0 {
			line += " -> " + strings.Join(n.down, " ")
		}
		if n.parent != "" {
			line += " ^ " + n.parent
		}
		lines = append(lines, line)
	}
	return lines
}

// body draws nodes behind a first one, each with an edge from one before it, mostly the last.
func (s *sketcher) body(first *sketched, size int) {
	list := []*sketched{first}
	for range size {
		n := s.node(first.parent)
		from := list[len(list)-1]
		if s.r.IntN(3) == 0 {
			from = list[s.r.IntN(len(list))]
		}
		from.down = append(from.down, n.id)
		if second := list[s.r.IntN(len(list))]; s.r.IntN(4) == 0 && second != from && second.reads == "" {
			second.down = append(second.down, n.id)
		}
		list = append(list, n)
	}
	for i, n := range list {
		if n.reads != "" {
			s.choose(n, list[:i])
		}
	}
}

// node draws a node, with its body if it is a container.
func (s *sketcher) node(parent string) *sketched {
	kind := kindsDrawn[s.r.IntN(len(kindsDrawn))]
	if s.r.IntN(3) > 0 && (kind == "Message" || kind == "UserFillUp") {
		kind = "LLM"
	}
	if parent != "" && (kind == "Iteration" || kind == "Loop") {
		kind = "StringTransform"
	}
	n := &sketched{id: fmt.Sprint(kind, ":", len(s.nodes)), kind: kind, parent: parent}
	s.nodes = append(s.nodes, n)
	seen := len(s.outs)
	switch kind {
	case "Switch", "Categorize":
		n.reads = s.outs[s.r.IntN(len(s.outs))]
		if !strings.HasSuffix(n.reads, "@content") && kind == "Categorize" {
			n.reads = "sys.query"
		}
		return n
	case "Iteration", "Loop":
		item := &sketched{id: fmt.Sprint(kind, "Item:", len(s.nodes)), kind: kind + "Item", params: "{}", parent: n.id}
		s.nodes = append(s.nodes, item)
		if s.outs = append(s.outs, n.id+"@n"); kind == "Iteration" {
			s.outs[seen] = item.id + "@item"
		}
		s.body(item, 1+s.r.IntN(3))
	}
	n.params = s.params(n)
	s.outs = s.outs[:seen]
	if output := outputDrawn[kind]; output != "" {
		s.outs = append(s.outs, n.id+"@"+output)
	}
	return n
}

func (s *sketcher) params(n *sketched) string {
	p := strings.ReplaceAll(paramsDrawn[n.kind], "%n", fmt.Sprint(len(s.nodes)))
	if n.kind == "Iteration" {
		p = strings.Replace(p, "%r", s.outs[len(s.outs)-1], 1) // the last one of the body
	}
	for strings.Contains(p, "%r") {
		p = strings.Replace(p, "%r", s.outs[s.r.IntN(len(s.outs))], 1)
	}
	if n.kind == "LLM" {
		method := [...]string{"", "", "comment"}[s.r.IntN(3)]
		s.fails[n.id] = method != "" && s.r.IntN(2) == 0
		p = strings.Replace(p, "%e", method, 1)
		if s.r.IntN(3) == 0 {
			p = strings.Replace(p, `"cite":false`, `"cite":true`, 1)
		}
	}
	return p
}

// choose lets a node choose between the halves of what follows it, at times also a way back. A node
// that nothing follows becomes another one.
func (s *sketcher) choose(n *sketched, before []*sketched) {
	if len(n.down) == 0 {
		n.kind, n.params = "StringTransform", strings.ReplaceAll(paramsDrawn["StringTransform"], "%r", "sys.query")
		return
	}
	down := n.down
	if len(before) > 1 && s.r.IntN(4) == 0 {
		down = append(down, before[1+s.r.IntN(len(before)-1)].id)
	}
	n.params = strings.NewReplacer("%c", n.reads, "%a", strings.Join(down[:(len(down)+1)/2], `","`),
		"%b", strings.Join(down[len(down)/2:], `","`)).Replace(paramsDrawn[n.kind])
	n.down = nil
}
