package document

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
)

func TestRTF(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"paragraphs", `one\par two {\b bold}\line next\par`, "one\n\ntwo bold\nnext"},
		{"bytes of the code page", `\ansicpg1251 \'cf\'f0\'e8\par`, "При"},
		{
			"bytes of the code page of a font", `{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset134 B;}}\f0 a\'e9 \f1 ` +
				`\'b9\'fa\f0  b`,
			"aé 国 b",
		},
		{"a second byte that is a letter", `{\fonttbl{\f1\fcharset128 B;}}\f1\'83A`, "ア"},
		{"numbers of characters and what stands for them", `\uc1 Gr\u246 o\u223\'df, \uc2\u8364 ` +
			`EU!\uc0\u8364`, "Größ, €!€"},
		{"negative numbers and pairs", `\uc1\u-27726?\u-10179?\u-8704?`, "鎲😀"},
		{"signs", `a\~b\_c\-d\emdash\lquote e\rquote\{\\\}`, "a b-cd—‘e’{\\}"},
		{"groups that are skipped", `{\info{\title T}}{\*\xyz no}{\pict 00ff}{\header h}{\v hidden}{\deleted ` +
			`x}yes`, "yes"},
		{"binary data", "{\\pict\\bin5 }}}}}}yes", "yes"},
		{
			"headings by level and by style", `{\stylesheet{\s0 Normal;}{\s3\b heading 2;}{\*\cs9 Strong;}}` +
				`\outlinelevel0 A\par\pard\s3 B\par\pard text`, "# A\n\n## B\n\ntext",
		},
		{
			"lists with their numbers", `{\listtext 3.\tab}three\par{\listtext 4.\tab}four\par` +
				`\ilvl1{\listtext\'b7\tab}dot\par{\listtext (a)\tab}letter\par\pard end`,
			"3. three\n4. four\n  - dot\n  - (a) letter\n\nend",
		},
		{"a heading with a number", `\outlinelevel1{\listtext 2.1\tab}Terms\par`, "## 2.1 Terms"},
		{"a link", `see {\field{\*\fldinst{HYPERLINK "https://a.b"}}{\fldrslt{the shop}}}, now`, "see [the " +
			"shop](https://a.b), now"},
		{"another field", `{\field{\*\fldinst PAGE}{\fldrslt 7}}`, "7"},
		{
			"a note", `shoes{\super\chftn}{\footnote\chftn  a pair\par is two}.\par next`,
			"shoes[^f1].\n[^f1]: a pair is two\n\nnext",
		},
		{"one of two encodings", `{\upr{\f0 old}{\*\ud{new}}}`, "new"},
		{"the text of a shape", `{\shp{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt in\par}}}after`, "in\n\nafter"},
		{
			"merged cells", `\trowd\clvmgf\cellx100\cellx300\intbl Model\cell Torque\cell\row` +
				`\trowd\clvmrg\cellx100\cellx200\cellx310\intbl\cell min\cell max\cell\row` +
				`\trowd\cellx100\cellx200\cellx300\intbl A\cell 1\cell 2\cell\row\pard after`,
			"| Model | Torque | Torque |\n| Model | min | max |\n| --- | --- | --- |\n| A | 1 | 2 |\n\nafter",
		},
		{
			"cells merged to the right", `\trowd\clmgf\cellx100\clmrg\cellx200\intbl T\cell\cell\row` +
				`\trowd\cellx100\cellx200\intbl a\cell b\cell\row`, "| T | T |\n| --- | --- |\n| a | b |",
		},
		{"paragraphs of a cell", `\trowd\cellx9\intbl a\par b\cell\row`, "| a b |\n| --- |"},
		{"a row without definitions", `\intbl a\cell b\cell\row`, "| a | b |\n| --- | --- |"},
		{"code", `{\stylesheet{\s5 Source Code;}}\s5 if x:\par   y\par\pard after`, "```\nif x:\n  y\n```\n\nafter"},
		{"an end in the middle", `text {\b more`, "text more"},
		{"more ends than beginnings", `a}}} b\par c`, "a b\n\nc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := []byte(`{\rtf1\ansi ` + c.body + `}`)
			require.Equal(t, c.want, block.Markdown(blocksOf(t, "a.rtf", data)))
			_, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.doc", "", data)
			require.NoError(t, err)
		})
	}
}

// Groups, tables and numbers without end stop at the limits.
func TestHostileRTF(t *testing.T) {
	limits := Limits{Text: 1 << 20, Block: 1 << 20, Work: 8 << 20, Time: patient}
	for name, body := range map[string]string{
		"deep groups": strings.Repeat("{", 1_000_000),
		"a wide row": `\trowd` + strings.Repeat(`\cellx9`, 1<<20) + strings.Repeat(`\intbl `+
			`x\cell`, 200_000) + `\row`,
		"a long table":   strings.Repeat(`\trowd\cellx9\intbl x\cell\row`, 200_000),
		"a long text":    strings.Repeat("x", 2<<20),
		"wide cells":     strings.Repeat(`\trowd\cellx1\cellx2000000000\intbl x\cell y\cell\row`, 100_000),
		"many notes":     strings.Repeat(`{\footnote x}`, 1<<17),
		"a long code":    `{\stylesheet{\s5 Code;}}\s5 ` + strings.Repeat(`x\par `, 1<<19),
		"many fallbacks": `\uc16` + strings.Repeat(`\u20000 `, 1<<19),
	} {
		_, err := bounded(t, func() (string, error) {
			return newReader(t, limits).Text(t.Context(), "a.rtf", "", []byte(`{\rtf1`+body))
		})
		require.ErrorIs(t, err, ErrLimit, name)
	}
	for _, body := range []string{`\bin2000000000 x`, `\bin-5 x`, `\u99999999999999 x`, `\'`, `\`, `\'z`, `\cellx`} {
		_, err := newReader(t, limits).Text(t.Context(), "a.rtf", "", []byte(`{\rtf1`+body))
		require.NoError(t, err, body)
	}
}

func FuzzRTF(f *testing.F) {
	for _, s := range []string{
		`\trowd\clvmgf\cellx100\cellx300\intbl Model\cell Torque\cell\row`, `{\field{\*\fldinst{HYPERLINK ` +
			`"a:b"}}{\fldrslt x}}`,
		`{\stylesheet{\s3 heading 2;}}{\fonttbl{\f1\fcharset134 B;}}\f1\'b9\s3{\listtext 1.\tab}x\par`,
		`\uc2\u-10179?\u-8704{\footnote x}{\upr{a}{\*\ud b}}\bin3 abc`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkBlocks(t, "a.rtf", append([]byte(`{\rtf1`), data...)) })
}
