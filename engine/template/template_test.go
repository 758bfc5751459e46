package template

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// rendered renders a template with the variables of pairs.
func rendered(t *testing.T, text string, pairs ...any) string {
	t.Helper()
	tmpl, err := Parse(text)
	require.NoError(t, err)
	out, err := tmpl.Render(engine.Object(pairs...).Lookup)
	require.NoError(t, err)
	return out
}

func TestRenderLooksUpEachVariableOnce(t *testing.T) {
	tmpl, err := Parse(`{{ a }}{{ a }}{% if false %}{{ b }}{% endif %}` +
		`{% for i in [1, 2] %}{{ c }}{% endfor %}{{ range(2) }}`)
	require.NoError(t, err)
	var asked []string
	out, err := tmpl.Render(func(name string) (engine.Value, bool) {
		asked = append(asked, name)
		return engine.String(name), name != "range"
	})
	require.NoError(t, err)
	require.Equal(t, "aaccrange(0, 2)", out)
	require.Equal(t, []string{"a", "c", "range"}, asked)
}

// A false value is printed and stays false: its string must not satisfy "{% if {begin@flag} %}".
func TestTextsOfFalseValuesAreFalse(t *testing.T) {
	vars := engine.Object("f", false, "z", 0, "l", []any{}, "o", engine.Object(), "n", nil, "s", "0", "one", 1)
	for text, want := range map[string]string{
		"{{ f }}|{{ z }}|{{ l }}|{{ o }}|{{ n }}|{{ s }}|{{ one }}":                   "false|0|[]|{}||0|1",
		"{% for x in [f, z, l, o, n, s, one] %}{{ 1 if x else 0 }}{% endfor %}":       "0000011",
		"{% for x in l %}<{{ x }}>{% else %}none{% endfor %}":                         "none",
		"{{ f or 'or' }}{{ z|default('d', true) }}{{ not o }}{{ l|length }}":          "ordTrue0",
		"{{ f|upper }}{{ z ~ 1 }}{{ z + 'x' }}{{ z|int + 1 }}{{ o is string }}":       "FALSE010x1True",
		"{{ z == '0' }}{{ 'als' in f }}{{ {'0': 1}[z] }}{{ [z] }}{{ f|tojson }}":      `TrueTrue1['0']"false"`,
		"{{ f.title() }}{{ '%s' % z }}{% set x = f %}{% if x %}yes{% endif %}{{ x }}": "False0false",
	} {
		tmpl, err := Parse(text)
		require.NoError(t, err)
		got, err := tmpl.RenderTexts(Limits{}, func(name string) (engine.Value, string, bool) {
			v, ok := vars.Lookup(name)
			return v, v.Text(), ok
		})
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestTemplatesNeverChangeTheirVariables(t *testing.T) {
	v := engine.Object("l", engine.List(engine.Int(1)), "d", engine.Object("k", engine.List()))
	before := v.JSON()
	text := `{% set _ = l.append(2) %}{% set _ = d.k.append(3) %}{% set _ = d.update(x=4) %}{{ l }}{{ d }}`
	tmpl, err := Parse(text)
	require.NoError(t, err)
	for range 2 { // a render starts with the original values
		out, err := tmpl.Render(v.Lookup)
		require.NoError(t, err)
		require.Equal(t, "[1, 2]{'k': [3], 'x': 4}", out)
	}
	require.Equal(t, before, v.JSON())
}

func TestOneTemplateRendersInManyGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	tmpl, err := Parse(`{% macro m(x) %}<{{ x }}>{% endmacro %}` +
		`{% for x in xs %}{{ m(x) }}{{ loop.last }}{% endfor %}{{ xs|map('upper')|join }}`)
	require.NoError(t, err)
	v := engine.Object("xs", engine.Strings("a", "b"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				out, err := tmpl.Render(v.Lookup)
				if err != nil || out != "<a>False<b>TrueAB" {
					t.Errorf("got %q, %v", out, err)
				}
			}
		})
	}
	wg.Wait()
	// A goroutine of the wait group may not have exited yet.
	for late := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		require.True(t, time.Now().Before(late), "%d goroutines, %d before", runtime.NumGoroutine(), before)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb {{ }}":                      `template line 2: expected an expression, got "}}"`,
		"{% if x %}\n\n":                  `template line 2: the template ends, expected {% endif %}`,
		"{{ 'a'\n|shout }}":               `template line 2: unknown filter "shout"`,
		"\n{{ begin@name }}":              `template line 2: unexpected character '@' in a tag`,
		"{# a\nb":                         `template line 1: comment without end, expected "#}"`,
		"{{ x\n\n":                        `template line 2: the template ends inside a tag, expected "}}"`,
		"{% for x in y %}\n{% endif %}":   `template line 2: unknown tag "endif"`,
		"a\r\nb\rc\n{{ 1 / 0 }}":          `template line 4: division by zero`,
		"{% for x in [1] %}\n{{ x.y.z }}": `template line 2: the template ends, expected {% endfor %}`,
		"{% macro m() %}\n{{ 1 + none }}\n{% endmacro %}\n\n{{ m() }}": `template line 2: cannot apply "+" to the ` +
			`integer 1 and none`,
		"{{ [1,\n2,\nmissing.name] }}": `template line 3: "missing" is undefined`,
		"{{ user.address.city }}":      `template line 1: "user" is undefined`,
		"{{ {'name': 'x'}.address.city }}": `template line 1: object has no ` +
			`attribute "address"`,
		"{% include 'x' %}": `template line 1: "include" has nothing to ` +
			`load from: a canvas has no other templates`,
		"{{ 'some text'() }}": `template line 1: the string "some text" ` +
			`cannot be called`,
		"{{ 'a'|truncate(size=2) }}": `template line 1: truncate has no ` +
			`argument "size"`,
		"{{ 'a'|replace('b') }}": `template line 1: replace needs the ` +
			`argument "new"`,
		"{{ range(100001) }}": `template line 1: a range has more than ` +
			`100000 numbers`,
	} {
		tmpl, err := Parse(text)
		if err == nil {
			var out string
			out, err = tmpl.Render(nil)
			require.Empty(t, out)
		}
		require.EqualError(t, err, want, "%q", text)
	}
}

func TestErrorsDistinguishTemplateFromLimit(t *testing.T) {
	_, err := Parse("{{")
	require.ErrorIs(t, err, ErrSyntax)
	tmpl, err := Parse("{{ 1 / 0 }}")
	require.NoError(t, err)
	_, err = tmpl.Render(nil)
	require.NotErrorIs(t, err, ErrSyntax)
	require.NotErrorIs(t, err, ErrLimit)
	_, err = tmpl.RenderWithin(Limits{Steps: 1}, nil)
	require.ErrorIs(t, err, ErrLimit)
}

func TestEvaluatorPanicsBecomeErrors(t *testing.T) {
	tmpl, err := Parse("\n{{ x }}")
	require.NoError(t, err)
	_, err = tmpl.Render(func(string) (engine.Value, bool) {
		var empty []engine.Value
		return empty[0], true
	})
	require.ErrorContains(t, err, "template line 2: internal error: runtime error: index out of range")
}

func TestInvalidUTF8PassesThrough(t *testing.T) {
	require.Equal(t, "a\xff|1|", rendered(t, "{{ s[0] }}{{ s[1:] }}|{{ 'é'|length }}|{{ n }}", "s", "a\xff", "n", ""))
	require.Equal(t, strings.Repeat("x", 100), rendered(t, "{{ 'x' * n }}", "n", 100))
}
