package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestWordingTellsTemplatesFromTexts(t *testing.T) {
	for text, want := range map[string]bool{
		"plain {sys.query}":             false,
		"{{sys.query}} {{ sys.query }}": false,
		"${sys.query} }} %} {":          false,
		"{{{sys.query}}}":               false,
		"{{secret:KEY}}":                false,
		"{# a remark #}":                false,
		"{% if 1 %}{% endif %}":         true,
		"{{ {sys.query}|upper }}":       true,
		"{{ x }}":                       true,
		"{{secret:KEY}} {{ x }}":        true,
		"{% never closed":               true,
	} {
		parsed := engine.ParseText(text)
		require.Equal(t, want, newWording(&parsed).isTemplate(), text)
	}
}

// noLimits are textLimits that allow anything.
type noLimits struct{}

func (noLimits) CheckText(int64) error        { return nil }
func (noLimits) TextLimit() int64             { return 1 << 20 }
func (noLimits) MadeMeter() func(int64) error { return func(int64) error { return nil } }

// FuzzWording holds that any text is filled or refused without harm, that a text that is no
// template comes out as it went in, and that a value never becomes part of the template.
func FuzzWording(f *testing.F) {
	for _, s := range []string{"{% raw %}{sys.a}{% endraw %}", `{{ "{sys.a}" ~ '\'' }}`, "{{{sys.a}{{", "{# {sys.a}", "{% set x = {sys.a} %}{{ x }}", "{{ {'a': {sys.a}} }}", "{%}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 400 {
			return
		}
		text := engine.ParseText(s)
		w := newWording(&text)
		got, err := w.fill(noLimits{}, func(*engine.Ref) (engine.Value, string, error) { return engine.String("{% bad"), "{% bad", nil })
		if !w.isTemplate() {
			require.NoError(t, err)
			if len(text.Refs()) == 0 {
				require.Equal(t, s, got)
			}
		}
	})
}
