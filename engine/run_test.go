package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func load(t testing.TB, lines ...string) *engine.Canvas {
	t.Helper()
	c, err := engine.Load(toys(t), sketch.Bytes(lines...))
	require.NoError(t, err)
	return c
}

func TestRunOrder(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		in    engine.Input
		want  string
	}{{
		name:  "a chain runs in order",
		lines: []string{`begin Begin -> a`, `a Text {"script":"A"} -> m`, `m Say {"content":"got {a@result}"}`},
		want:  `start +begin -begin +a -a +m msg_got_A msg_end -m end_{"content":"got_A"}`,
	}, {
		name: "a join waits silently for the longer branch and runs once",
		lines: []string{
			`begin Begin -> a b`, `a Text {"script":"A"} -> j`, `b Text {"script":"B"} -> c`,
			`c Text {"script":"C{b@result}"} -> j`, `j Say {"content":"{a@result}|{c@result}"}`,
		},
		want: `start +begin -begin +a +b -a -b +c -c +j msg_A|CB msg_end -j end_{"content":"A|CB"}`,
	}, {
		name: "a join without references runs once per arrival",
		lines: []string{
			`begin Begin -> a b`, `a Text {"script":"A"} -> j`, `b Text {"script":"B"} -> c`,
			`c Text {"script":"C"} -> j`, `j Say {"content":"x"}`,
		},
		want: `start +begin -begin +a +b -a -b +j +c msg_x msg_end -j -c +j msg_x msg_end -j end_{"content":"x"}`,
	}, {
		name: "an iteration enters its item once per turn",
		lines: []string{
			`begin Begin -> it`, `it Each {"items_ref":"sys.query"} -> m`, `ii Item -> s ^ it`,
			`s Text {"script":"{ii@item}"} ^ it`, `m Say {"content":"{s@result}"}`,
		},
		in:   engine.Input{Query: engine.Strings("a", "b")},
		want: `start +begin -begin +it +ii -ii +s -s +ii -ii +s -s +ii -ii -it +m msg_b msg_end -m end_{"content":"b"}`,
	}, {
		name:  "a source that cannot come reads as nothing",
		lines: []string{`begin Begin -> a`, `a Say {"content":"[{z@result}]"}`, `z Text {"script":"Z"}`},
		want:  `start +begin -begin +a msg_[] msg_end -a end_{"content":"[]"}`,
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, tt.lines...)
			for _, n := range []int{1, 5, 50} {
				got, err := story(t, c, c.State(), tt.in, engine.Options{Concurrency: n})
				require.NoError(t, err)
				require.Equal(t, tt.want, flat(got), n)
			}
		})
	}
}

// flat joins lines with blanks, those inside a line written as underscores.
func flat(lines []string) string {
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(l, " ", "_")
	}
	return strings.Join(lines, " ")
}
