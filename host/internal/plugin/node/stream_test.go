package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
)

const streams = `{"streams": true, "outputs": {"type": "object", "properties": {"text": {"type": "string"}}}}`

func TestEmissionsOfAPluginAreStreamed(t *testing.T) {
	begin, message := "begin Begin -> P", `M Message {"content": ["{P@text}"]}`
	for _, c := range []struct {
		name, manifest string
		steps          []string
		said           string
		pieces         int
	}{
		{"streamed in pieces", streams, []string{"emit 1 one ", "emit 1 two", `say {"outputs":{"text":"one two"}}`}, "one two", 2},
		{"the rest is sent at the end", streams, []string{"emit 1 one ", `say "one two three"`}, "one two three", 2},
		{"without pieces the text is sent at the end", streams, []string{`say "whole"`}, "whole", 1},
		{"streamed output counts as sent", streams, []string{`emit 4 {"key":"text","delta":"a"}`, `say "ab"`}, "ab", 2},
		{"a different text is not sent again", streams, []string{"emit 1 draft", `say "final"`}, "draft", 1},
		{"a plugin that does not stream is sent at the end", "", []string{"emit 1 one ", `say "one two"`}, "one two", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t, node.Config{})
			s.add(guest(c.steps...), c.manifest)
			got := s.play(t.Context(), engine.Ports{}, begin, "P plugin:sample@1 -> M", message)
			require.NoError(t, got.err)
			require.Equal(t, c.said, strings.Join(got.said, ""))
			require.Len(t, got.said, c.pieces)
		})
	}
	t.Run("reasoning is marked and not kept", func(t *testing.T) {
		s := newShop(t, node.Config{})
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
		s := newShop(t, node.Config{})
		s.add(guest(`emit 3 {"pct":50,"note":"half"}`, `say "x"`), "")
		got := s.play(t.Context(), engine.Ports{}, begin, "P plugin:sample@1 -> M", message)
		require.Len(t, got.notes, 1)
		require.Equal(t, "half", got.notes[0].Get("note").Str())
		require.Equal(t, "P", got.notes[0].Get("component_id").Str())
	})
	t.Run("an error after pieces is the node's, without another try", func(t *testing.T) {
		s := newShop(t, node.Config{})
		s.add(guest("emit 1 one ", `fail {"code":"upstream","message":"lost","retryable":true}`), streams)
		clock := &steps{}
		got := s.play(t.Context(), engine.Ports{Clock: clock}, begin, `P plugin:sample@1 {"max_retries": 3} -> M`, message)
		require.ErrorContains(t, got.err, "lost")
		require.Empty(t, clock.slept)
	})
}

// TestTextOfAPluginWithMoreOutputsIsSaid streams the text of a plugin that also returns other
// outputs, as long as the canvas reads none of them before the end.
func TestTextOfAPluginWithMoreOutputsIsSaid(t *testing.T) {
	const manifest = `{"streams": true, "outputs": {"type": "object", "properties": {
		"text": {"type": "string"}, "pages": {"type": "integer"}, "rest": {"type": "object"}}}}`
	steps := []string{"emit 1 one ", "emit 1 two", `say {"outputs":{"text":"one two","pages":2,"rest":{"a":[1]}}}`}
	for name, c := range map[string]struct {
		lines []string
		said  []string
	}{
		"only the text is said": {[]string{`M Message {"content": ["{P@text}"]}`}, []string{"one ", "two"}},
		"another output is said, too": {
			[]string{`M Message {"content": ["{P@text} of {P@pages}"]}`},
			[]string{"one two", " of ", "2"},
		},
		"a later node reads another": {[]string{
			`M Message {"content": ["{P@text}"]} -> N`,
			`N Message {"content": ["{P@rest.a}"]}`,
		}, []string{"one two", "[1]"}},
		"another node follows": {[]string{
			`M Message {"content": ["{P@text}"]}`,
			`P plugin:sample@1 -> M S`, `S StringTransform {"method": "merge", "script": "x"}`,
		}, []string{"one two"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, node.Config{})
			s.add(guest(steps...), manifest)
			got := s.play(t.Context(), engine.Ports{}, append([]string{"begin Begin -> P", "P plugin:sample@1 -> M"},
				c.lines...)...)
			require.NoError(t, got.err)
			require.Equal(t, c.said, got.said)
			require.Equal(t, "2", got.outputs["P"].Get("pages").Text())
			require.JSONEq(t, `{"a":[1]}`, got.outputs["P"].Get("rest").JSON())
			require.Equal(t, "one two", got.outputs["P"].Get("text").Str())
		})
	}
}
