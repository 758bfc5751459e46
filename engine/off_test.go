package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// switchedOff returns a sketch in which some nodes are switched off.
func switchedOff(t *testing.T, off []string, lines ...string) []byte {
	t.Helper()
	doc, err := engine.ParseJSON(sketch.Bytes(lines...))
	require.NoError(t, err)
	all := doc.Get("components")
	for _, id := range off {
		all = all.With(id, all.Get(id).With("disabled", engine.Bool(true)))
	}
	return doc.With("components", all).AppendJSON(nil)
}

func TestRunSkipsNodesThatAreOff(t *testing.T) {
	tests := []struct {
		name  string
		off   string
		lines []string
		in    engine.Input
		want  string
	}{{
		name:  "what follows runs, and its outputs are empty",
		off:   "a",
		lines: []string{`begin Begin -> a`, `a Text {"script":"A"} -> m`, `m Say {"content":"got {a@result}"}`},
		want:  `start +begin -begin +m msg_got_ msg_end -m end_{"content":"got_"}`,
	}, {
		name: "several in a row, and one whose params are wrong",
		off:  "a b",
		lines: []string{
			`begin Begin -> a`, `a Text {"script":5} -> b`, `b Text {"script":"B"} -> m`, `m Say {"content":"x"}`,
		},
		want: `start +begin -begin +m msg_x msg_end -m end_{"content":"x"}`,
	}, {
		name: "a join that both ways lead to runs once",
		off:  "a b",
		lines: []string{
			`begin Begin -> a b`, `a Text {"script":"A"} -> m`, `b Text {"script":"B"} -> m`, `m Say {"content":"x"}`,
		},
		want: `start +begin -begin +m msg_x msg_end -m end_{"content":"x"}`,
	}, {
		name: "a branch that leads to it continues behind it",
		off:  "a",
		lines: []string{
			`begin Begin -> p`, `p Pick {"query":"sys.query","to":["a"]}`, `a Text {"script":"A"} -> m`,
			`m Say {"content":"x"}`,
		},
		in:   engine.Input{Query: engine.String("a")},
		want: `start +begin -begin +p -p +m msg_x msg_end -m end_{"content":"x"}`,
	}, {
		name:  "a branch that leads to the last node ends there",
		off:   "a",
		lines: []string{`begin Begin -> p`, `p Pick {"query":"sys.query","to":["a"]}`, `a Text {"script":"A"}`},
		in:    engine.Input{Query: engine.String("a")},
		want:  `start +begin -begin +p -p end_{"_next":["a"]}`,
	}, {
		name: "an iteration with its body",
		off:  "it",
		lines: []string{
			`begin Begin -> it`, `it Each {"items_ref":"sys.query"} -> m`, `ii Item -> s ^ it`,
			`s Text {"script":"{ii@item}"} ^ it`, `m Say {"content":"[{s@result}]"}`,
		},
		in:   engine.Input{Query: engine.Strings("a", "b")},
		want: `start +begin -begin +m msg_[] msg_end -m end_{"content":"[]"}`,
	}, {
		name: "a node of a body",
		off:  "s",
		lines: []string{
			`begin Begin -> it`, `it Each {"items_ref":"sys.query"} -> m`, `ii Item -> s ^ it`,
			`s Text {"script":"{ii@item}"} -> r ^ it`, `r Text {"script":"{ii@item}"} ^ it`,
			`m Say {"content":"{r@result}"}`,
		},
		in:   engine.Input{Query: engine.Strings("a")},
		want: `start +begin -begin +it +ii -ii +r -r +ii -ii -it +m msg_a msg_end -m end_{"content":"a"}`,
	}, {
		name:  "nodes that only lead back to each other",
		off:   "a b",
		lines: []string{`begin Begin -> a`, `a Text {"script":"A"} -> b`, `b Text {"script":"B"} -> a`},
		want:  `start +begin -begin end_{}`,
	}, {
		name:  "the start runs nevertheless",
		off:   "begin",
		lines: []string{`begin Begin -> m`, `m Say {"content":"x"}`},
		want:  `start +begin -begin +m msg_x msg_end -m end_{"content":"x"}`,
	}}
	for _, scheduling := range []engine.Scheduling{engine.Batch, engine.Eager} {
		for _, tt := range tests {
			t.Run(fmt.Sprint(scheduling, " ", tt.name), func(t *testing.T) {
				c, err := engine.Load(toys(t), switchedOff(t, strings.Fields(tt.off), tt.lines...))
				require.NoError(t, err)
				got, err := story(t, c, c.State(), tt.in, engine.Options{Scheduling: scheduling})
				require.NoError(t, err)
				require.Equal(t, tt.want, flat(got))
			})
		}
	}
}

func TestValidateReportsNodesThatAreOff(t *testing.T) {
	dsl := switchedOff(t, []string{"a", "it"},
		`begin Begin -> a`, `a Text {"script":"{nothing:X@y}","odd":1} -> it`, `it Each {"items_ref":"sys.query"} -> m`,
		`ii Item -> s ^ it`, `s Text {"script":"x"} ^ it`, `m Say {"content":"{a@result}"}`)
	var found []string
	for _, d := range engine.Validate(toys(t), dsl) {
		found = append(found, d.String())
	}
	require.Equal(t, []string{"warning: m: {a@result}: a is switched off, so this is empty"}, found)
}

// Edges past nodes that are switched off are bounded: each node before them gets all after them.
func TestEdgesPastNodesThatAreOffAreBounded(t *testing.T) {
	chain := func(n int) []byte {
		lines, off, all := []string{}, []string{}, ""
		for i := range n {
			id := fmt.Sprint("m", i)
			lines, off = append(lines, fmt.Sprint(id, " Say -> m", i+1)), append(off, id)
			all += " " + id
		}
		lines = append(lines, "begin Begin ->"+all, fmt.Sprint("m", n, " Say"))
		return switchedOff(t, off, lines...)
	}
	reg := toys(t)
	c, err := engine.Load(reg, chain(100))
	require.NoError(t, err)
	require.NotNil(t, c)
	_, err = engine.Load(reg, chain(2000))
	require.ErrorContains(t, err, "leads past components that are switched off: more than 1000000 such edges")
}
