package chunking

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
)

func cut(t *testing.T, method, config, name, markdown string) []Chunk {
	t.Helper()
	list, err := Cut(t.Context(), method, json.RawMessage(config), Document{Name: name, Blocks: block.Parse(markdown)})
	require.NoError(t, err)
	return list
}

func texts(list []Chunk) (out []string) {
	for _, c := range list {
		out = append(out, c.Text)
	}
	return out
}

const law = "# Chapter 1\n\n## Section 1\n\none two\n\n## Section 2\n\nthree\n\n# Chapter 2\n\nfour\n\n| a | b " +
	"|\n| --- | --- |\n| 1 | 2 |\n"

func TestMethods(t *testing.T) {
	for _, c := range []struct {
		method, config, name, text string
		want                       []string
	}{
		{
			"naive", `{"chunk_token_num": 4}`, "a.md", "one two three\nfour five six\nseven",
			[]string{"one two three\nfour five six", "seven"},
		},
		{"naive", "{\"delimiter\": \"`##`\"}", "a.md", "x##y", []string{"x", "y"}},
		{"naive", "", "a.md", law, []string{
			"# Chapter 1\n## Section 1\none two\n## Section 2\nthree\n# Chapter 2\nfour",
			"| a | b |\n| --- | --- |\n| 1 | 2 |",
		}},
		{"naive", "", "prices.xlsx", "## Prices\n\n| Kind | Euro |\n| --- | --- |\n| Book | 3 |\n| Map | |\n", []string{
			"## Prices\nKind：Book; Euro：3 ——Prices\nKind：Map ——Prices",
		}},
		{"one", "", "a.md", "# A\n\nx\n\n- y", []string{"# A\n\nx\n\n- y"}},
		{"presentation", "", "a.md", "# Slide 1\n\nx\n\n# Slide 2\n\n## y", []string{
			"# Slide 1\n\nx",
			"# Slide 2\n\n## y",
		}},
		{"qa", "", "a.md", "# How\n\n## long?\n\n30 days.\n\nNot more.\n\n# Why?\n\nSo.", []string{
			"Question: How\nlong?\tAnswer: 30 days.\n\nNot more.", "Question: Why?\tAnswer: So.",
		}},
		{
			"qa", "", "a.csv", "| How? | So. |\n| --- | --- |\n| Why? | Thus |\n",
			[]string{"Question: How?\tAnswer: So.", "Question: Why?\tAnswer: Thus"},
		},
		{"qa", "", "a.txt", "How?\tSo.\nand more", []string{"Question: How?\tAnswer: So.\nand more"}},
		{"table", "", "a.csv", "| Kind | Days |\n| --- | --- |\n| Book | 30 |\n", []string{"- Kind: Book\n- Days: 30"}},
		{"tag", "", "a.txt", "returns of books\treturns, books", []string{"returns of books"}},
		{"laws", "", "a.md", law, []string{
			"# Chapter 1\n## Section 1\none two", "# Chapter 1\n## Section 2\nthree", "# Chapter 2\nfour",
			"| a | b |\n| --- | --- |\n| 1 | 2 |",
		}},
		{"manual", "", "a.txt", "第一章 总则\n\n第一条 甲。\n\n第二条 乙。", []string{"第一章 总则\n第一条 甲。\n第二条 乙。"}},
		{"paper", "", "a.md", "# T\n\n## Abstract\n\nlong.\n\n## 1 Intro\n\ntext", []string{
			"# T",
			"## Abstract\n\nlong.", "## 1 Intro\ntext",
		}},
		{"email", "", "a.eml", "# S\n\nFrom: a", []string{"# S\nFrom: a"}},
	} {
		t.Run(c.method+" "+c.name, func(t *testing.T) {
			require.Equal(t, c.want, texts(cut(t, c.method, c.config, c.name, c.text)))
		})
	}
	require.Equal(t, []string{"returns", "books"}, cut(t, "tag", "", "a.txt", "x\treturns, books")[0].Tags)
	require.Equal(t, "Why?", cut(t, "qa", "", "a.txt", "Why?\tSo.")[0].Embedded())
	require.Equal(t, "a\nb", cut(t, "naive", `{"parent_child": {"use_parent_child": true,
		"children_delimiter": "\n"}}`, "a.md", "a\nb")[0].Parent)
}

func TestStructureOfBlocks(t *testing.T) {
	list := cut(t, "", `{"chunk_token_num": 24}`, "a.md",
		"# A\n\nTable 1: deadlines\n\n| Kind | Days |\n| --- | --- |\n"+
			strings.Repeat("| Books | 30 |\n", 5)+"\nafter")
	require.Greater(t, len(list), 2)
	require.Equal(t, "A\nTable 1: deadlines\n| Kind | Days |\n| --- | --- |\n| Books | 30 |\n| Books | 30 |\n| "+
		"Books | 30 |", list[2].Embedded())
	require.Equal(t, Count(list[2].Embedded()), list[2].Tokens)
}

// Tables of contents are in no chunk, unless a document has nothing else.
func TestContentsAreInNoChunk(t *testing.T) {
	contents := block.Block{Kind: block.Paragraph, Mark: block.Contents, Text: "Returns . . . . 3"}
	text := block.Block{Kind: block.Paragraph, Text: "Goods can be sent back."}
	for _, method := range Methods() {
		if method == "table" { // has rows of tables only
			continue
		}
		for want, list := range map[string][]block.Block{text.Text: {contents, text}, contents.Text: {contents}} {
			chunks, err := Cut(t.Context(), method, nil, Document{Name: "a.pdf", Blocks: list})
			require.NoError(t, err)
			require.Equal(t, []string{want}, texts(chunks), method)
		}
	}
}

func TestCutErrors(t *testing.T) {
	_, err := Cut(t.Context(), "other", nil, Document{})
	require.ErrorIs(t, err, ErrMethod)
	require.ErrorContains(t, err, `"other" (one of book, email, laws, manual, naive, one, `)
	_, err = Cut(t.Context(), "naive", json.RawMessage(`{"chunk_token_num": 0}`), Document{})
	require.ErrorContains(t, err, "chunk_token_num 0 is not above 0")
	_, err = Cut(t.Context(), "naive", json.RawMessage(`[]`), Document{})
	require.ErrorContains(t, err, "settings")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Cut(ctx, "", nil, Document{Blocks: block.Parse("x")})
	require.ErrorIs(t, err, context.Canceled)
}

// randomDocument is a document of random blocks; every word occurs once.
func randomDocument(rng *rand.Rand) []block.Block {
	n := 0
	text := func(words int) string {
		var b strings.Builder
		for range words {
			n++
			fmt.Fprintf(&b, "%sw%dw%s ", []string{"", "退货", "ü"}[rng.IntN(3)], n, []string{
				"", ".", "。", ";",
				"\n",
			}[rng.IntN(5)])
		}
		return strings.TrimSpace(b.String())
	}
	var outline block.Outline
	var list []block.Block
	for range 1 + rng.IntN(12) {
		var b block.Block
		switch rng.IntN(5) {
		case 0:
			b = block.Block{Kind: block.Heading, Level: 1 + rng.IntN(3), Text: block.Line(text(2))}
		case 1:
			b = block.Block{Kind: block.Table, Header: 1}
			for range 1 + rng.IntN(6) {
				b.Rows = append(b.Rows, []string{text(1), text(1 + rng.IntN(8))})
			}
		case 2:
			b = block.Block{Kind: block.List, Text: "- " + block.Line(text(3)) + "\n- " + block.Line(text(40))}
		case 3:
			b = block.Block{Kind: block.Code, Text: text(30)}
		default:
			b = block.Block{Kind: block.Paragraph, Text: text(1 + rng.IntN(80))}
		}
		b.Positions = []block.Position{{Page: 1 + len(list)/3}}
		list = append(list, outline.Place(b))
	}
	return list
}

// content is the letters and digits of a text.
func content(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// No chunk loses text or repeats what is not declared: the headings of laws, in the text of each
// chunk, and the heads of tables that are cut.
func TestChunksAreTheDocument(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		doc := Document{Name: "a.md", Blocks: randomDocument(rng)}
		config := json.RawMessage(fmt.Sprintf(`{"chunk_token_num": %d}`, 8+rng.IntN(200)))
		want := content(block.Plain(doc.Blocks))
		for _, method := range []string{
			"structure", "naive", "email", "one", "presentation", "manual", "book",
			"paper", "laws",
		} {
			list, err := Cut(t.Context(), method, config, doc)
			require.NoError(t, err)
			all := content(strings.Join(texts(list), " "))
			repeats := method == "laws" || strings.Contains(block.Plain(doc.Blocks),
				"\t") && method != "structure" && method != "one" &&
				method != "presentation"
			if !repeats {
				require.Equal(t, want, all, "%s, seed %d", method, seed)
				continue
			}
			for i := range doc.Blocks {
				b := &doc.Blocks[i]
				for row, word := range strings.Fields(strings.ReplaceAll(b.Plain(), "\n", " ")) {
					if word = content(word); word == "" {
						continue
					}
					count := strings.Count(all, word[strings.Index(word, "w"):])
					require.Positive(t, count, "%s, seed %d, %d: %s", method, seed, row, word)
					if b.Kind != block.Heading && b.Kind != block.Table {
						require.Equal(t, 1, count, "%s, seed %d: %s", method, seed, word)
					}
				}
			}
		}
	}
}

// Chunks have the text of a document: lines that are marks in Markdown have no backslashes.
func TestNoEscapesInChunks(t *testing.T) {
	const text = "1. General terms\n- of the first part\n# of all\n> of them\n| and more"
	for _, method := range Methods() {
		list, err := Cut(t.Context(), method, nil, Document{Name: "a.txt", Blocks: block.Paragraphs(text)})
		require.NoError(t, err, method)
		for _, c := range list {
			require.NotContains(t, c.Text, `\`, method)
		}
	}
}

// A line without a blank is cut without counting it again for each chunk.
func TestLongLine(t *testing.T) {
	list := cut(t, "structure", "", "a.md", strings.Repeat("0123456789abcdef", 1<<13))
	require.Greater(t, len(list), 50)
	for _, c := range list {
		require.LessOrEqual(t, c.Tokens, 512)
	}
}

// FuzzCut cuts any Markdown by any method.
func FuzzCut(f *testing.F) {
	f.Add(law, uint8(0), uint8(9))
	f.Fuzz(func(t *testing.T, text string, method, size uint8) {
		if len(text) > 1<<14 {
			return
		}
		name := Methods()[int(method)%len(Methods())]
		list, err := Cut(t.Context(), name, json.RawMessage(fmt.Sprintf(`{"chunk_token_num": %d}`, 1+int(size))),
			Document{Name: "a.md", Blocks: block.Parse(text)})
		require.NoError(t, err)
		if name == "structure" {
			require.Equal(t, content(block.Markdown(block.Parse(text))), content(strings.Join(texts(list), " ")))
		}
	})
}
