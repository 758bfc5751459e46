package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// requireFacts compares the facts of an event with its JSON.
func requireFacts(t *testing.T, e *engine.Event) {
	t.Helper()
	var got engine.Facts
	if e.Facts != nil {
		got = *e.Facts
	}
	want := engine.ReadFacts(e.Type, e.JSON)
	require.Equal(t, want.Data.JSON(), got.Data.JSON(), "data of %s", e.JSON)
	require.Equal(t, want.Usage.JSON(), got.Usage.JSON(), "usage of %s", e.JSON)
	got.Data, want.Data, got.Usage, want.Usage = engine.Null, engine.Null, engine.Null, engine.Null
	require.Equal(t, want, got, "%s", e.JSON)
}

func TestFactsAgreeWithJSON(t *testing.T) {
	reg := builtins(t)
	seen := map[engine.EventType]int{}
	eachCase(t, func(t *testing.T, c *enginetest.Case) {
		player := &enginetest.Player{Registry: reg, Cut: func(e *engine.Event) bool {
			seen[e.Type]++
			requireFacts(t, e)
			return false
		}}
		_, err := player.Play(t.Context(), c)
		require.NoError(t, err)
	})
	for _, kind := range []engine.EventType{
		engine.EventNodeFinished, engine.EventMessage, engine.EventMessageEnd, engine.EventUserInputs,
		engine.EventWorkflowFinished, engine.EventToolFinished, engine.EventWarning, engine.EventCheckpoint,
	} {
		require.NotZero(t, seen[kind], "no case has %s", kind)
	}
}

// Bytes that are not UTF-8 read as they do in JSON.
func TestFactsOfMessageThatIsNotUTF8(t *testing.T) {
	c := load(t, `begin Begin -> m`, `m Say {"content":"{sys.query}"}`)
	in := engine.Input{Query: engine.String("a\xff\xfeb")}
	var text string
	for e, err := range c.Run(t.Context(), c.State(), in, engine.Options{}) {
		require.NoError(t, err)
		requireFacts(t, e)
		if e.Type == engine.EventMessage {
			text += e.Facts.Message.Text
		}
	}
	require.Equal(t, "a\ufffd\ufffdb", text)
}

func TestFactsOfJSONThatIsNotAnEvent(t *testing.T) {
	for _, json := range []string{"", "{", "[]", `"x"`, `{"data":1}`} {
		require.Zero(t, engine.ReadFacts(engine.EventMessage, []byte(json)), json)
	}
}
