package template

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostile lists templates that exceed a limit.
var hostile = map[string]string{
	"a macro that calls itself":       `{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}`,
	"a macro that calls itself twice": `{% macro m(n) %}{{ m(n) }}{{ m(n) }}{% endmacro %}{{ m(1) }}`,
	"macros that call each other": `{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro ` +
		`%}{{ a() }}`,
	"a caller that calls its macro": `{% macro m() %}{% if caller %}{% call m() %}{{ caller() }}{% endcall %}{% ` +
		`endif %}{% endmacro %}{% ` +
		`call m() %}{% endcall %}`,
	"a recursive loop without end": `{% set l = [1] %}{% set _ = l.append(l) %}{% for x in l recursive %}{% if x is ` +
		`iterable %}{{ loop(x) ` +
		`}}{% endif %}{% endfor %}`,
	"a block inside itself": `{% block a %}{{ self.a() }}{% endblock %}`,
	"loops inside loops": strings.Repeat(`{% for x in range(99999) %}`, 5) +
		strings.Repeat(`{% endfor %}`, 5),
	"a list that grows while looped": `{% set l = [1] %}{% for x in l %}{% set _ = l.append(x) %}{% endfor %}`,
	"a range without end":            `{{ range(10 ** 18) }}`,
	"a negative range":               `{{ range(0, -(10 ** 30), -1)|list }}`,
	"a string times a large number":  `{{ 'x' * 10 ** 12 }}`,
	"a list times a large number":    `{{ [1] * 10 ** 12 }}`,
	"a string that doubles": `{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set ns.s = ns.s ~ ` +
		`ns.s %}{% endfor %}`,
	"strings appended to a list": `{% set l = [] %}{% for i in range(99999) %}{% set _ = l.append(('x' ~ i) * ` +
		`99999) %}{% endfor %}`,
	"a list that doubles": `{% set l = [1] %}{% for i in range(64) %}{% set _ = l.extend(l) %}{% endfor %}`,
	"a string that a filter extends": `{% set ns = namespace(s='aa') %}{% for i in range(64) %}{% set ns.s = ` +
		`ns.s|replace('a', ns.s) %}{% ` +
		`endfor %}`,
	"repeated escaping": `{% set ns = namespace(s='&' * 1000) %}{% for i in range(9999) %}{% set ns.s = ` +
		`ns.s|forceescape %}{% ` +
		`endfor %}`,
	"a wide field":             `{{ '{:999999999}'.format(1) }}`,
	"a field without end":      `{{ '%99999999999999999999d' % 1 }}`,
	"a width from an argument": `{{ '%*d' % (10 ** 17, 1) }}`,
	"a wide center":            `{{ 'x'|center(10 ** 15) }}`,
	"a wide indent":            `{{ ('x\n' * 1000)|indent(10 ** 9) }}`,
	"wide tabs":                `{{ ('\t' * 1000).expandtabs(10 ** 9) }}`,
	"a wide wrap":              `{{ ('x ' * 100000)|wordwrap(1, wrapstring='y' * 100000) }}`,
	"a wide JSON":              `{{ ([[[1]] * 999] * 999)|tojson(10 ** 6) }}`,
	"a large power":            `{{ 10 ** (10 ** 10) }}`,
	"a large power of itself": `{% set ns = namespace(n=10) %}{% for i in range(99) %}{% set ns.n = ns.n * ns.n ` +
		`%}{% endfor %}`,
	"a filling batch": `{{ [1]|batch(10 ** 15, 0)|list }}`,
	"many columns":    `{{ [1]|slice(10 ** 15, 0)|list }}`,
	"a list of lists of lists": `{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = [ns.l] %}{% ` +
		`endfor %}{{ ns.l }}`,
	"JSON of deep lists": `{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = [ns.l] %}{% ` +
		`endfor %}{{ ` +
		`ns.l|tojson }}`,
	"pprint of deep lists": `{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = [ns.l] %}{% ` +
		`endfor %}{{ ` +
		`ns.l|pprint }}`,
	"comparing deep lists": `{% set ns = namespace(l=[], m=[]) %}{% for i in range(99999) %}{% set ns.l = [ns.l] ` +
		`%}{% set ns.m = ` +
		`[ns.m] %}{% endfor %}{{ ns.l == ns.m }}`,
	"ordering deep lists": `{% set ns = namespace(l=[], m=[]) %}{% for i in range(99999) %}{% set ns.l = [ns.l] ` +
		`%}{% set ns.m = ` +
		`[ns.m] %}{% endfor %}{{ ns.l < ns.m }}`,
	"lists shared many times": `{% set ns = namespace(l=['x']) %}{% for i in range(50) %}{% set ns.l = [ns.l, ns.l] ` +
		`%}{% endfor %}{{ ` +
		`ns.l }}`,
	"comparing shared lists": `{% set ns = namespace(l=['x'], m=['x']) %}{% for i in range(50) %}{% set ns.l = ` +
		`[ns.l, ns.l] %}{% set` +
		` ns.m = [ns.m, ns.m] %}{% endfor %}{{ ns.l == ns.m }}`,
	"sorting mutually nested lists": `{% set l = [1] %}{% set m = [1] %}{% set _ = l.insert(0, m) %}{% set _ = ` +
		`m.insert(0, l) %}{{ [l, m]|sort }}`,
	"JSON of a list in itself": `{% set l = [] %}{% set _ = l.append(l) %}{{ l|tojson }}`,
	"searching long strings": `{% set s = 'x' * 9999999 %}{% for i in range(99999) %}{% for j in range(99999) %}{{ ` +
		`'y' in s }}{{ ` +
		`s.count('y') }}{% endfor %}{% endfor %}`,
	"indexing long strings": `{% set s = 'é' * 5999999 %}{% for i in range(99999) %}{% for j in range(99999) %}{% ` +
		`set _ = s[-1] ` +
		`%}{% endfor %}{% endfor %}`,
	"keys that are long strings": `{% set s = 'x' * 9999999 %}{% set d = {s: 1} %}{% for i in range(99999) %}{% for ` +
		`j in range(99999) ` +
		`%}{% set _ = d[s] %}{% endfor %}{% endfor %}`,
	"keys that are large tuples": `{% set ns = namespace(t=(1,)) %}{% for i in range(18) %}{% set ns.t = (ns.t, ` +
		`ns.t) %}{% endfor %}{% ` +
		`for i in range(99999) %}{{ {ns.t: 1} }}{% endfor %}`,
	"arguments without end": `{{ '{}'.format(*('x' * 9999999)) }}`,
	"repeated arithmetic on large integers": `{% set n = 10 ** 17 %}{% for i in range(99999) %}{% for j in ` +
		`range(99999) %}{% set _ = (n * 3) // 7 ` +
		`%}{% endfor %}{% endfor %}`,
	"deep brackets":              `{{ ` + strings.Repeat("(", 100000) + `1` + strings.Repeat(")", 100000) + ` }}`,
	"deep signs":                 `{{ ` + strings.Repeat("-", 100000) + `1 }}`,
	"deep not":                   `{{ ` + strings.Repeat("not ", 100000) + `1 }}`,
	"deep conditions":            `{{ ` + strings.Repeat("1 if 0 else ", 100000) + `1 }}`,
	"deep tags":                  strings.Repeat(`{% if 1 %}`, 100000) + strings.Repeat(`{% endif %}`, 100000),
	"deep lists":                 `{{ ` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + ` }}`,
	"a long sum":                 `{{ 1` + strings.Repeat(" + 1", 100000) + ` }}`,
	"a long chain of attributes": `{{ a` + strings.Repeat(".a", 100000) + ` }}`,
	"a long chain of calls":      `{{ a` + strings.Repeat("()", 100000) + ` }}`,
	"a long chain of filters":    `{{ 1` + strings.Repeat("|string", 100000) + ` }}`,
	"deep targets": `{% set ` + strings.Repeat("(", 100000) + `a` + strings.Repeat(")", 100000) +
		` = 1 %}`,
	"a chain of generators": `{% set ns = namespace(g=[1]) %}{% for i in range(99999) %}{% set ns.g = ` +
		`ns.g|map('string') %}{% ` +
		`endfor %}{{ ns.g|list }}`,
	"a wide wrap of short words": `{{ ('a ' * 1000000)|wordwrap(10 ** 9) ~ ('a ' * 9999999)|wordwrap(10 ** 9) }}`,
	"a string of entities":       `{{ ('&a;' * 5000000)|striptags }}`,
	"a string of separators":     `{{ (',' * 9999999).split(',') }}`,
	"a string of blanks":         `{{ ('a ' * 8000000).split() }}`,
	"a string of lines":          `{{ ('\n' * 16000000).splitlines() }}`,
	"many parameters":            `{% macro m(` + manyNames(300) + `) %}{% endmacro %}`,
	"many strings side by side":  `{{ ` + strings.Repeat("'a' ", 200000) + ` / 2 }}`,
	"a long dotted name":         `{{ 1|a` + strings.Repeat(".a", 200000) + ` }}`,
	"a long template":            strings.Repeat("x", maxSource+1),
	"deep format fields": `{{ '` + strings.Repeat("{:", 100000) + strings.Repeat("}", 100000) +
		`'.format(1) }}`,
}

func manyNames(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = "a" + strconv.Itoa(i)
	}
	return strings.Join(names, ", ")
}

func TestHostileTemplatesEndWithAnError(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			tmpl, err := Parse(text)
			if err == nil {
				var out string
				out, err = tmpl.Render(nil)
				require.Empty(t, out)
			}
			var e *Error
			require.ErrorAs(t, err, &e)
			require.NotContains(t, e.Reason, "internal error")
		})
	}
}

func TestLimitsCanBeTighter(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		text   string
		reason string
	}{
		"depth":  {Limits{Depth: 5}, `{{ [[[[[[1]]]]]] }}`, "nested deeper than 5 evaluations"},
		"steps":  {Limits{Steps: 50}, `{% for i in range(50) %}{% endfor %}`, "the render needs more than 50 steps"},
		"output": {Limits{Output: 5}, `{{ 'abc' }}def`, "the result is longer than 5 bytes"},
		"text":   {Limits{Output: 5}, `{{ 'abc' ~ 'def' }}`, "a text is longer than 5 bytes"},
		"range":  {Limits{Range: 5}, `{{ range(6) }}`, "a range has more than 5 numbers"},
	} {
		t.Run(name, func(t *testing.T) {
			tmpl, err := Parse(c.text)
			require.NoError(t, err)
			_, err = tmpl.RenderWithin(c.limits, nil)
			require.ErrorIs(t, err, ErrLimit)
			require.EqualError(t, err, "template line 1: "+c.reason)
		})
	}
}

func TestOrdinaryTemplatesStayFarFromTheLimits(t *testing.T) {
	require.Equal(t, "100", rendered(t, `{% macro down(n) %}{% if n > 0 %}{{ down(n - 1) }}{% else %}100{% endif %}`+
		`{% endmacro %}{{ down(100) }}`))
	require.Len(t, rendered(t, `{% for i in range(100000) %}{{ i }} {% endfor %}`), 588890)
	require.Equal(t, "201", rendered(t, `{{ 1`+strings.Repeat(" + 1", 200)+` }}`))
	require.Equal(t, "1", rendered(t, `{{ `+strings.Repeat("(", 100)+`1`+strings.Repeat(")", 100)+` }}`))
}

// A lookup among many variables may bring the remaining steps below zero.
func TestEveryNumberOfStepsEndsWithALimit(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{% with %}`)
	for i := range 100 {
		text.WriteString(`{% set a` + strconv.Itoa(i) + ` = [1, 2] %}`)
	}
	text.WriteString(`{% set x, y = a99 %}{{ x }}{{ [a99]|map('join')|join }}{% endwith %}`)
	tmpl, err := Parse(text.String())
	require.NoError(t, err)
	for steps := 1; ; steps++ {
		out, err := tmpl.RenderWithin(Limits{Steps: steps}, nil)
		if err == nil {
			require.Equal(t, "112", out)
			return
		}
		require.ErrorIs(t, err, ErrLimit, steps)
	}
}
