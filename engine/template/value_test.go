package template

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestValues covers cases that are not among the Jinja2 recordings.
func TestValues(t *testing.T) {
	t.Parallel()
	const many = `{% set d = {} %}{% for i in range(12) %}{% set _ = d.update({'k' ~ i: i}) %}{% endfor %}`
	for _, c := range []struct{ text, want string }{
		{
			many + `{{ d.k11 }}{{ d.k12 is defined }}{{ d.pop('k0') }}{{ d.k11 }}{{ d|length }}`,
			"11False01111",
		},
		{
			many + `{% set c = d.copy() %}{% set _ = c.update(k1=0) %}{{ d.k1 }}{{ c.k1 }}{{ c == d }}`,
			"10False",
		},
		{
			`{{ {(1, 'a'): 2}[(1.0, 'a')] }}{{ {1: 'x'}[true] }}{{ {none: 1}[none] }}`,
			"2x1",
		},
		{
			`{{ {1: 2} == {1.0: 2} }}{{ {1: [2]} == {1: [3]} }}{{ {1: 2} == {1: 2, 3: 4} }}`,
			"TrueFalseFalse",
		},
		{
			`{% set d = {'a': 1} %}{{ d.setdefault('a', 2) }}{{ d.setdefault('b') }}{{ d.clear() }}{{ d }}`,
			"1NoneNone{}",
		},
		{
			`{{ range(5, 0, -2)|list }}{{ range(10)[-3:] }}{{ range(3) == range(0, 3, 1) }}{{ range(4)[9] }}`,
			"[5, 3, 1]range(7, 10)True",
		},
		{
			`{{ [0.5, 'nan'|float, 0.25]|sort }}{{ ['nan'|float, 1]|max }}{{ 'nan'|float == 'nan'|float }}`,
			"[nan, 0.25, 0.5]nanFalse",
		},
		{
			`{{ (1, 2) < (1, 3) }}{{ [1, 2] < [1] }}{{ (1,) + (2,) }}{{ [1] * 2 }}{{ (1,) == [1] }}`,
			"TrueFalse(1, 2)[1, 1]False",
		},
		{
			`{% autoescape true %}{{ ['<', '<b>'|safe]|join('&') }}{{ '<a'|replace('a', '<b>'|safe) }}{%` +
				` endautoescape %}`,
			"&lt;&amp;<b>&lt;<b>",
		},
		{
			`{{ '&eacute;&hellip;&#65;&#x42;&nope;&#0; &amp &yuml;'|striptags }}`,
			"é…AB&nope;&#0; &amp ÿ",
		},
		{
			`{{ 'a<!-- b --> c<d> e< f'|striptags }}`,
			"a c e< f",
		},
		{
			`{{ 'x y'.split(none, 0) }}{{ ' a  b c '.rsplit(none, 1) }}{{ 'a,b,c'.rsplit(',', 1) }}`,
			"['x y'][' a  b', 'c']['a,b', 'c']",
		},
		{
			`{{ 'ab cd-ef'|title }}{{ "o'neil ab".title() }}{{ 'ΑΒΓΣ'|lower }}{{ 'ßx'|title }}{{ 'ǆ'|capitalize` +
				` }}`,
			"Ab Cd-EfO'Neil AbαβγςSSxǅ",
		},
		{
			`{{ {'b': 1, 'a': {'d': [], 'c': [1, 2]}}|tojson(1) }}`,
			"{\n \"a\": {\n  \"c\": [\n   1,\n   2\n  ],\n  \"d\": []\n },\n \"b\": 1\n}",
		},
		{
			`{{ ('inf'|float, -1e400, 'nan'|float)|tojson }}{{ {none: true, 1.5: 2}|items|list }}`,
			"[Infinity, -Infinity, NaN][(None, True), (1.5, 2)]",
		},
		{
			`{% for x in range(3) %}{{ loop.changed(x // 2) }}{{ loop.cycle('a', 'b') }}{{ loop.last }} {%` +
				` endfor %}`,
			"TrueaFalse FalsebFalse TrueaTrue ",
		},
		{
			`{% set l = [3, 1] %}{{ l.sort() }}{{ l.insert(9, 2) }}{{ l.pop(0) }}{{ l.remove(3) }}{{` +
				` l.reverse() }}{{ l }}`,
			"NoneNone1NoneNone[2]",
		},
		{
			`{% block a %}x{% endblock %}{% for i in [1] %}{% block b scoped %}{{ i }}{% endblock b %}{% endfor` +
				` %}`,
			"x1",
		},
	} {
		require.Equal(t, c.want, rendered(t, c.text), c.text)
	}
}
