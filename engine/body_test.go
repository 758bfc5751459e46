package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestPartialAnswersKeepTurnTogether(t *testing.T) {
	c := load(t,
		`begin Begin -> it`, `it Each {"items_ref":"sys.query"} -> m`, `ii Item -> f ^ it`,
		`f Form {"inputs":{"a":{"type":"line"},"b":{"type":"line"}}} -> s t ^ it`,
		`s Text {"script":"s"} ^ it`, `t Text {"script":"t"} -> u ^ it`, `u Text {"script":"u"} ^ it`,
		`m Say {"content":"over"}`)
	st := c.State()
	answer := func(in engine.Input) string {
		got, err := story(t, c, st, in, engine.Options{})
		require.NoError(t, err)
		return flat(got)
	}
	require.Equal(t, `start +begin -begin +it +ii -ii ask_{"a":{"type":"line"},"b":{"type":"line"}}`,
		answer(engine.Input{Query: engine.Strings("x")}))
	require.Equal(t, `start ask_{"b":{"type":"line"}}`, answer(engine.Input{Inputs: engine.Object("a", "1")}))
	require.Equal(t, `start +f -f +s +t -s -t +u -u +ii -ii -it +m msg_over msg_end -m end_{"content":"over"}`,
		answer(engine.Input{Inputs: engine.Object("b", "2")}))
}

func TestEdgeOutOfBody(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{{
		name: "what also follows the container runs once",
		lines: []string{
			`begin Begin -> it`, `it Each {"items_ref":"sys.query"} -> m`, `ii Item -> s ^ it`,
			`s Text {"script":"s"} -> m ^ it`, `m Say {"content":"over"}`,
		},
		want: `start +begin -begin +it +ii -ii +s -s +m msg_over msg_end -m end_{"content":"over"}`,
	}, {
		name: "the body ends though the target is on its way already",
		lines: []string{
			`begin Begin -> it m`, `it Each {"items_ref":"sys.query"} -> m`, `ii Item -> s l ^ it`,
			`s Text {"script":"s"} -> m ^ it`, `l Text {"script":"l"} ^ it`, `m Say {"content":"over{it@x}"}`,
		},
		want: `start +begin -begin +it +ii -ii +s +l -s -l +m msg_over msg_end -m end_{"content":"over"}`,
	}} {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, tt.lines...)
			got, err := story(t, c, c.State(), engine.Input{Query: engine.Strings("x", "y")}, engine.Options{})
			require.NoError(t, err)
			require.Equal(t, tt.want, flat(got))
		})
	}
}
