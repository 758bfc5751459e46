package pluginnode_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/pluginnode"
)

const streams = `{"streams": true, "outputs": {"type": "object", "properties": {"text": {"type": "string"}}}}`

func TestWhatAPluginEmitsIsSaid(t *testing.T) {
	begin, message := "begin Begin -> P", `M Message {"content": ["{P@text}"]}`
	for _, c := range []struct {
		name, manifest string
		steps          []string
		said           string
		pieces         int
	}{
		{"piece by piece", streams, []string{"emit 1 one ", "emit 1 two", `say {"outputs":{"text":"one two"}}`}, "one two", 2},
		{"the rest follows", streams, []string{"emit 1 one ", `say "one two three"`}, "one two three", 2},
		{"without pieces the text is said at once", streams, []string{`say "whole"`}, "whole", 1},
		{"pieces of the output count as well", streams, []string{`emit 4 {"key":"text","delta":"a"}`, `say "ab"`}, "ab", 2},
		{"a different text is not said again", streams, []string{"emit 1 draft", `say "final"`}, "draft", 1},
		{"a plugin that does not stream is said when it is done", "", []string{"emit 1 one ", `say "one two"`}, "one two", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t, pluginnode.Config{})
			s.add(guest(c.steps...), c.manifest)
			got := s.play(t.Context(), engine.Ports{}, begin, "P plugin:sample@1 -> M", message)
			require.NoError(t, got.err)
			require.Equal(t, c.said, strings.Join(got.said, ""))
			require.Len(t, got.said, c.pieces)
		})
	}
	t.Run("reasoning is marked and not kept", func(t *testing.T) {
		s := newShop(t, pluginnode.Config{})
		s.add(guest("emit 2 hm ", "emit 2 well", "emit 1 yes", `say "yes"`), streams)
		c, err := engine.Load(s.registry(), canvas(t, begin, "P plugin:sample@1 -> M", message))
		require.NoError(t, err)
		var marks []string
		st := c.State()
		for e, err := range c.Run(t.Context(), st, engine.Input{}, engine.Options{Seed: 1}) {
			require.NoError(t, err)
			if d := e.Data(); e.Type == engine.EventMessage {
				switch {
				case d.Get("start_to_think").True():
					marks = append(marks, "(")
				case d.Get("end_to_think").True():
					marks = append(marks, ")")
				default:
					marks = append(marks, d.Get("content").Str())
				}
			}
		}
		require.Equal(t, []string{"(", "hm ", "well", ")", "yes"}, marks)
	})
	t.Run("progress goes to the log", func(t *testing.T) {
		s := newShop(t, pluginnode.Config{})
		s.add(guest(`emit 3 {"pct":50,"note":"half"}`, `say "x"`), "")
		got := s.play(t.Context(), engine.Ports{}, begin, "P plugin:sample@1 -> M", message)
		require.Len(t, got.notes, 1)
		require.Equal(t, "half", got.notes[0].Get("note").Str())
		require.Equal(t, "P", got.notes[0].Get("component_id").Str())
	})
	t.Run("an error after pieces is the node's, without another try", func(t *testing.T) {
		s := newShop(t, pluginnode.Config{})
		s.add(guest("emit 1 one ", `fail {"code":"upstream","message":"lost","retryable":true}`), streams)
		clock := &steps{}
		got := s.play(t.Context(), engine.Ports{Clock: clock}, begin, `P plugin:sample@1 {"max_retries": 3} -> M`, message)
		require.ErrorContains(t, got.err, "lost")
		require.Empty(t, clock.slept)
	})
}
