package block

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sample = `---
title: Returns
---
# Returns

Goods can be sent back.
Within 30 days.

Deadlines
---------

1. write to us
2. send it

   in its box
- label

| Kind | Days |
| --- | --- |
| Books \| maps | 30 |

` + "```go\n# no heading\n```" + `
![A box](box.png "title")
## After {#}
text
- item
`

func TestParse(t *testing.T) {
	one, two := []string{"Returns"}, []string{"Returns", "Deadlines"}
	require.Equal(t, []Block{
		{Kind: Code, Language: "yaml", Text: "title: Returns"},
		{Kind: Heading, Level: 1, Text: "Returns"},
		{Kind: Paragraph, Text: "Goods can be sent back.\nWithin 30 days.", Path: one},
		{Kind: Heading, Level: 2, Text: "Deadlines", Path: one},
		{Kind: List, Text: "1. write to us\n2. send it\n   in its box\n- label", Path: two},
		{Kind: Table, Rows: [][]string{{"Kind", "Days"}, {"Books | maps", "30"}}, Header: 1, Path: two},
		{Kind: Code, Language: "go", Text: "# no heading", Path: two},
		{Kind: Image, Text: "A box", Source: "box.png", Path: two},
		{Kind: Heading, Level: 2, Text: "After {#}", Path: one},
		{Kind: Paragraph, Text: "text", Path: []string{"Returns", "After {#}"}},
		{Kind: List, Text: "- item", Path: []string{"Returns", "After {#}"}},
	}, clean(Parse(sample)))
}

// clean makes empty paths nil.
func clean(list []Block) []Block {
	for i := range list {
		if len(list[i].Path) == 0 {
			list[i].Path = nil
		}
	}
	return list
}

func TestMarkdownIsParsedAsItWasWritten(t *testing.T) {
	list := Parse(sample)[1:7] // settings and images are written otherwise
	require.Equal(t, list, Parse(Markdown(list)))
}

func TestWrite(t *testing.T) {
	list := Parse("# A & B\n\ntwo\nlines\n\n- x\n- y\n\n| a | b |\n| - | - |\n| 1 | <2> |\n\n```\nx < y\n```\n")
	require.Equal(t, "A & B\n\ntwo\nlines\n\n- x\n- y\n\na\tb\n1\t<2>\n\nx < y", Plain(list))
	require.Equal(t, strings.Join([]string{
		"<h1>A &amp; B</h1>", "<p>two<br>lines</p>", "<ul><li>x</li><li>y</li></ul>",
		"<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>&lt;2&gt;</td></tr></table>", "<pre>x &lt; y</pre>", "",
	}, "\n"), HTML(list))
}

// A paragraph stays one when it is written and parsed, whatever its lines begin with.
func TestParagraphsThatLookLikeOtherBlocks(t *testing.T) {
	for text, want := range map[string]string{
		"# define": "\\# define", "1. Januar": "1\\. Januar", "| x": "\\| x", "> 3": "> 3", "```": "\\```",
		"plain - text": "plain - text", "a\n- b": "a\n\\- b", "1.5 kg": "1.5 kg", "#tag": "#tag",
		"a\n---": "a\n\\---", "a\n===": "a\n\\===", "![a](b)": "\\![a](b)", "---": "---",
	} {
		list := []Block{{Kind: Paragraph, Text: text}}
		require.Equal(t, want, Markdown(list))
		parsed := Parse(Markdown(list))
		require.Len(t, parsed, 1, text)
		require.Equal(t, Paragraph, parsed[0].Kind, text)
		require.Equal(t, text, list[0].Markdown()) // for chunks
		require.Equal(t, want, Markdown(parsed), "escaped once only")
	}
	const quoted = "> a quote\n> of two lines"
	require.Equal(t, quoted, Markdown(Parse(quoted)))
}

// A cell that reaches over others is written once, but in Markdown, which has no such cells.
func TestSpans(t *testing.T) {
	list := []Block{{
		Kind: Table, Header: 2,
		Rows:  [][]string{{"Model", "Torque", "Torque"}, {"Model", "min", "max"}, {"A", "1", "2"}},
		Spans: []Span{{Row: 0, Column: 0, Rows: 2, Columns: 1}, {Row: 0, Column: 1, Rows: 1, Columns: 2}},
	}}
	require.Equal(t, "Model\tTorque\t\n\tmin\tmax\nA\t1\t2", Plain(list))
	require.Equal(t, `<table><tr><th rowspan="2">Model</th><th colspan="2">Torque</th></tr>`+
		"<tr><th>min</th><th>max</th></tr><tr><td>A</td><td>1</td><td>2</td></tr></table>\n", HTML(list))
	require.Contains(t, Markdown(list), "| Model | min | max |")
	list[0].Spans = []Span{{Row: -1, Column: -5, Rows: 1 << 40, Columns: 1 << 40}, {Row: 7, Rows: 1, Columns: 1}}
	require.NotEmpty(t, HTML(list))
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("|\n||\n|-|\n```\n")
	f.Add("---\n---\n- \n\n\n  x\n#\n")
	f.Fuzz(func(t *testing.T, text string) {
		list := Parse(text)
		letters := func(s string) string {
			return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
				return !('a' <= r && r <= 'z' ||
					'0' <= r && r <= '9')
			}), "")
		}
		var all strings.Builder
		for i := range list {
			if i > 0 || list[i].Language != "yaml" || !strings.HasPrefix(text, "---") { // settings have no fence
				all.WriteString(list[i].Language)
			}
			all.WriteString(list[i].Plain() + list[i].Source)
		}
		if strings.ContainsRune(text, '!') { // the title of an image is not kept
			return
		}
		require.Equal(t, letters(text), letters(all.String()))
	})
}
