package write

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"github.com/easel-canvas/easel/host/internal/document"
)

const sample = `# Returns & refunds

You can return **shoes** within *thirty* days, see [the shop](https://example.com/a?b=1&c=2).
Größe “38” – ~~never~~ always; ` + "`sku < 7`" + ` \*and\* &eacute;. 三十天内可以退货。Ωμέγα, Привет.

1. Pack them
   - in their box
   - with the label

   Do not seal it.
2. Send them

- [x] paid
- [ ] sent

> Keep the receipt.
> It is needed.

` + "```go\nif a < b {\n\treturn\n}\n```" + `

Table: Deadlines

| Item | Days |
|---|---:|
| Shoes, **all** | 30 |
| Gift \| card | 007 |
| =1+1 | -2.5 |

---

<script>alert(1)</script>

![A shoe](https://example.com/shoe.png) last
`

// documents reads the files; one reader for all tests, as the reader of PDF is compiled once for
// each.
var documents document.Reader

func read(t testing.TB, data []byte) string {
	t.Helper()
	text, err := documents.Text(t.Context(), "", "", data)
	require.NoError(t, err)
	return text
}

// words returns a text without its lines, which break where the page ends.
func words(text string) string { return " " + strings.Join(strings.Fields(text), " ") + " " }

func made(t testing.TB, format, markdown string) []byte {
	t.Helper()
	data, err := Make(format, markdown)
	require.NoError(t, err)
	again, err := Make(format, markdown)
	require.NoError(t, err)
	require.Equal(t, data, again, "the same text makes the same file")
	return data
}

func TestMarkdown(t *testing.T) {
	require.Equal(t, sample, string(made(t, "markdown", sample)))
	require.Equal(t, ".md", Extension("markdown"))
	require.Equal(t, ".docx", Extension("docx"))
}

func TestWord(t *testing.T) {
	require.Equal(t, `# Returns & refunds

You can return shoes within thirty days, see [the shop](https://example.com/a?b=1&c=2). Größe `+
		`“38” – never always; sku < 7 *and* é. 三十天内可以退货。Ωμέγα, Привет.

1. Pack them
  - in their box
  - with the label

Do not seal it.

2. Send them
- ☑ paid
- ☐ sent

Keep the receipt. It is needed.

if a < b {
	return
}

Table: Deadlines

| Item | Days |
| --- | --- |
| Shoes, all | 30 |
| Gift \| card | 007 |
| =1+1 | -2.5 |

A shoe last`, read(t, made(t, "docx", sample)))
}

func TestPDF(t *testing.T) {
	text := words(read(t, made(t, "pdf", sample)))
	for _, want := range []string{
		"Returns & refunds", "You can return shoes within thirty days, see the shop.",
		"Größe “38” – never always; sku < 7 *and* é.", "三十天内可以退货。", "Ωμέγα", "Привет",
		"1. Pack them", "• in their box", "Do not seal it.", "2. Send them", "☑ paid", "Keep the receipt.",
		"if a < b {", "Item Days", "Gift | card 007", "A shoe last",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "alert")
}

func TestLayoutOfPDF(t *testing.T) {
	data, err := MakeWith(
		"pdf",
		"# Größe\n\nالسلام عليكم 한국어 日本語 שלום Ελληνικά\n\n"+strings.Repeat("text\n\n", 100),
		&Layout{
			Header: "ACME", Footer: "confidential", PageNumbers: true, Watermark: "DRAFT", Contents: true,
		},
	)
	require.NoError(t, err)
	text := words(read(t, data))
	for _, want := range []string{"ACME", "confidential", " 2 ", "DRAFT", "Größe", "한국어", "日本語", "Ελληνικά"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "\uFFFD")
	require.Contains(t, string(data), "/FontFile2", "glyphs are part of the file")
	require.Less(t, len(data), 200_000, "only those that are shown")
}

func TestLayoutOfWord(t *testing.T) {
	data, err := MakeWith(
		"docx",
		"text",
		&Layout{Header: "A<C", Footer: "foot", PageNumbers: true, Landscape: true, Letter: true},
	)
	require.NoError(t, err)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	part := func(name string) string {
		f, err := z.Open(name)
		require.NoError(t, err)
		content, err := io.ReadAll(f)
		require.NoError(t, err)
		return string(content)
	}
	require.Contains(t, part("word/header1.xml"), "A&lt;C")
	require.Contains(t, part("word/footer1.xml"), `w:instr="PAGE"`)
	require.Contains(t, part("word/document.xml"), `<w:pgSz w:w="15840" w:h="12240" w:orient="landscape"/>`)
	require.Contains(t, part("[Content_Types].xml"), "wordprocessingml.header+xml")
	require.Contains(t, read(t, data), "text")
}

func TestPlainText(t *testing.T) {
	require.Equal(t, "Title\n\na b\n\n- one\n- two\n  1. deep\n\nx\ty\n1\t2\n",
		string(made(t, "txt", "# Title\n\na **b**\n\n- one\n- two\n  1. deep\n\n|x|y|\n|-|-|\n|1|2|\n")))
}

// A text of many pages is read back completely: no line is lost at the end of a page.
func TestLongPDF(t *testing.T) {
	var b strings.Builder
	b.WriteString("| n | text |\n|---|---|\n")
	for i := range 300 {
		fmt.Fprintf(&b, "| row%d | %s |\n", i, strings.Repeat("word ", i%40))
	}
	fmt.Fprintf(&b, "| long | %s |\n\n", strings.Repeat("tall ", 3000))
	for i := range 300 {
		fmt.Fprintf(&b, "para%d %s\n\n", i, strings.Repeat("x", i))
	}
	text := words(read(t, made(t, "pdf", b.String())))
	for i := range 300 {
		require.Contains(t, text, fmt.Sprintf(" row%d ", i))
		require.Contains(t, text, fmt.Sprintf(" para%d ", i))
	}
	require.Equal(t, 3000, strings.Count(text, "tall"))
	require.Equal(t, 300*299/2, strings.Count(text, "x")-1)
}

func TestBook(t *testing.T) {
	markdown := sample + "\n## A/B: *test* [2026]\n\n|x|\n|-|\n|1|\n\n## A/B: *test* " +
		"[2026]\n\n|x|\n|-|\n|99999999999999999999|\n\nno title\n\n|x|\n|-|\n|0.10|\n"
	f, err := excelize.OpenReader(bytes.NewReader(made(t, "xlsx", markdown)))
	require.NoError(t, err)
	defer f.Close()
	require.Equal(t, []string{"Table Deadlines", "AB test 2026", "AB test 2026_1", "Table_4"}, f.GetSheetList())
	rows, err := f.GetRows("Table Deadlines")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"Item", "Days"}, {"Shoes, all", "30"}, {"Gift | card", "007"}, {"=1+1", "-2.5"}}, rows)
	for cell, want := range map[string]excelize.CellType{
		"B2": excelize.CellTypeUnset,
		"B3": excelize.CellTypeInlineString, "A4": excelize.CellTypeInlineString, "B4": excelize.CellTypeUnset,
	} {
		kind, err := f.GetCellType("Table Deadlines", cell)
		require.NoError(t, err)
		require.Equal(t, want, kind, cell)
	}
	long, err := f.GetCellValue("AB test 2026_1", "A2")
	require.NoError(t, err)
	require.Equal(t, "99999999999999999999", long, "digits that a number would lose")
}

func TestBookWithoutTables(t *testing.T) {
	f, err := excelize.OpenReader(bytes.NewReader(made(t, "xlsx", "# One\n\ntwo")))
	require.NoError(t, err)
	defer f.Close()
	rows, err := f.GetRows("Data")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"Content"}, {"# One"}, {"two"}}, rows)
}

func TestNamesOfSheets(t *testing.T) {
	b := &book{names: map[string]bool{}}
	long := strings.Repeat("长", 40)
	for i, c := range []struct{ title, want string }{
		{"", "Table_1"},
		{"Sales", "Sales"},
		{"sales", "sales_1"},
		{"[]:*?/\\#", "Table_4"},
		{"'x'", "x"},
		{"History", "Table_6"},
		{long, strings.Repeat("长", 31)},
		{long, strings.Repeat("长", 29) + "_1"},
	} {
		require.Equal(t, c.want, b.name(c.title, i+1))
	}
}

func TestPage(t *testing.T) {
	page := string(made(t, "html", sample))
	require.Contains(t, page, "<h1>Returns &amp; refunds</h1>")
	require.Contains(t, page, "<td>Gift | card</td>")
	require.NotContains(t, page, "<script")
	require.Contains(t, read(t, []byte(page)), "| Shoes, all | 30 |")
	link := string(made(t, "html", "[x](javascript:alert(1))"))
	require.NotContains(t, link, "javascript")
}

// Only addresses of the web and of mail become links.
func TestLinksOfPDF(t *testing.T) {
	data := string(made(t, "pdf", "[a](javascript:1) [b](https://example.com/\\)) <mailto:x@example.com>"))
	require.NotContains(t, data, "javascript")
	require.Contains(t, data, `(https://example.com/\))`)
	require.Contains(t, data, `(mailto:x@example.com)`)
}

func TestErrors(t *testing.T) {
	_, err := Make("odt", "x")
	require.ErrorIs(t, err, ErrFormat)
	_, err = Make("docx", strings.Repeat("x", Most+1))
	require.ErrorIs(t, err, ErrTooLarge)
}

var everyFormat = []string{"markdown", "html", "docx", "xlsx", "pdf"}

// Each of these took the parser seconds to minutes at a few hundred kilobytes, and would take hours
// at the size that is allowed.
func TestDeeplyNestedMarkdown(t *testing.T) {
	for name, markdown := range map[string]string{
		"quotations":        strings.Repeat(">", 50_000) + " x",
		"lists":             strings.Repeat("- ", 20_000) + "x",
		"numbered lists":    strings.Repeat("1. ", 20_000) + "x",
		"brackets":          strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"emphasis":          strings.Repeat("*a **b ", 50_000),
		"emphasis in lines": strings.Repeat("*a **b\n", 50_000),
		"code":              strings.Repeat("``` ` ", 50_000),
		"a table": "|" + strings.Repeat("a|", 5_000) + "\n|" + strings.Repeat("-|", 5_000) + "\n" +
			strings.Repeat("|a\n", 1_000),
	} {
		_, err := Make("docx", markdown)
		require.ErrorIs(t, err, ErrTangled, name)
	}
}

// Texts at the limits, and long plain texts, are made in every format.
func TestHardMarkdown(t *testing.T) {
	for name, markdown := range map[string]string{
		"quotations": strings.Repeat(">", mostNesting) + " x",
		"lists":      strings.Repeat("- ", mostNesting) + "x",
		"brackets":   strings.Repeat("[", mostMarks/2) + strings.Repeat("]", mostMarks/2),
		"emphasis":   strings.Repeat("*a **b ", mostMarks/3),
		"code":       strings.Repeat("``` ` ", mostMarks/4),
		"a table": "|" + strings.Repeat("a|", 1_000) + "\n|" + strings.Repeat("-|", 1_000) + "\n" +
			strings.Repeat("|a\n", 100),
		"a word":     strings.Repeat("x", 200_000),
		"controls":   "a\x00\x01\x1b[31m\ufffe\xff b\u202e c",
		"paragraphs": strings.Repeat("*a* **b** `c` [d](e)\n\n- f\n\n", 5_000),
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range everyFormat {
				began := time.Now()
				data, err := Make(format, markdown)
				require.NoError(t, err, format)
				require.NotEmpty(t, data, format)
				t.Log(format, time.Since(began).Round(time.Millisecond))
			}
		})
	}
}

func FuzzMake(f *testing.F) {
	f.Add(sample)
	f.Add("|a|\n|-|\n|b|\n\n1. x\n   > y")
	f.Add("\x00\xff&#0;&#21;\x15<br>![x](y)")
	f.Fuzz(func(t *testing.T, markdown string) {
		var r document.Reader
		for _, format := range everyFormat {
			data, err := Make(format, markdown)
			if errors.Is(err, ErrTangled) {
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if format == "pdf" || format == "markdown" {
				continue // a PDF is read by pdfium, which is too slow here
			}
			text, err := r.Text(t.Context(), "x."+format, "", data)
			if err != nil || !utf8.ValidString(text) {
				t.Fatalf("%s is not read: %v", format, err)
			}
		}
	})
}
