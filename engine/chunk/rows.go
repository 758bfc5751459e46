package chunk

import (
	"fmt"
	"strings"
)

// Pair is a question with its answer.
type Pair struct{ Question, Answer string }

// Text returns a pair as it is shown. Only the question is searched.
func (p Pair) Text() string { return "Question: " + p.Question + "\tAnswer: " + p.Answer }

// Pairs reads questions and answers: lines with a tab (or, where more lines have one, a comma)
// between the two. Other lines belong to the answer before; those before the first pair are given
// back as rest.
func Pairs(text string) (pairs []Pair, rest []string) {
	lines := splitLines(text)
	mark := "\t"
	if countWith(lines, ",") > countWith(lines, "\t") {
		mark = ","
	}
	for _, line := range lines {
		question, answer, ok := strings.Cut(line, mark)
		switch {
		case ok && strings.Count(line, mark) == 1 && strings.TrimSpace(question) != "":
			pairs = append(pairs, Pair{strings.TrimSpace(question), strings.TrimSpace(answer)})
		case strings.TrimSpace(line) == "":
		case len(pairs) == 0:
			rest = append(rest, line)
		default:
			pairs[len(pairs)-1].Answer += "\n" + line
		}
	}
	return pairs, rest
}

// splitLines returns the lines of a text, with any kind of line ending.
func splitLines(text string) []string {
	return strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
}

// countWith returns the number of lines that have a mark exactly once.
func countWith(lines []string, mark string) (n int) {
	for _, l := range lines {
		if strings.Count(l, mark) == 1 {
			n++
		}
	}
	return n
}

// Rows makes a chunk of each row of a table, as lines "- column: value". The first row names the
// columns; a name that occurs again gets a number, one that is missing is its number. Rows without
// a value are left out.
func Rows(rows [][]string) []Chunk {
	if len(rows) == 0 {
		return nil
	}
	names := columns(rows)
	var out []Chunk
	for _, row := range rows[1:] {
		var b strings.Builder
		for i, value := range row {
			if value = strings.TrimSpace(value); value != "" {
				fmt.Fprintf(&b, "- %s: %s\n", names[i], value)
			}
		}
		if b.Len() > 0 {
			out = append(out, Chunk{Text: strings.TrimSuffix(b.String(), "\n"), Type: Text})
		}
	}
	return out
}

// columns returns the names of all columns.
func columns(rows [][]string) []string {
	most := 0
	for _, row := range rows {
		most = max(most, len(row))
	}
	names, seen := make([]string, most), map[string]bool{}
	for i := range names {
		name := ""
		if i < len(rows[0]) {
			name = strings.TrimSpace(rows[0][i])
		}
		if name == "" {
			name = fmt.Sprint("column ", i+1)
		}
		unique := name
		for n := 2; seen[unique]; n++ {
			unique = fmt.Sprintf("%s (%d)", name, n)
		}
		seen[unique] = true
		names[i] = unique
	}
	return names
}

// numberings are alternative ways to number the headings of a document that the methods book, laws
// and manual recognise, each beginning with the highest level.
var numberings = [][]string{
	{
		`第[零一二三四五六七八九十百0-9]+(?:分?编|部分)`, `第[零一二三四五六七八九十百0-9]+章`, `第[零一二三四五六七八九十百0-9]+节`,
		`第[零一二三四五六七八九十百0-9]+条`, `[\(（][零一二三四五六七八九十百]+[\)）]`,
	},
	{
		`第[0-9]+章`, `第[0-9]+节`, `[0-9]{1,2}[\. 、]`, `[0-9]{1,2}\.[0-9]{1,2}[^a-zA-Z/%~-]`,
		`[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,2}`,
	},
	{
		`第[零一二三四五六七八九十百0-9]+章`, `第[零一二三四五六七八九十百0-9]+节`, `[零一二三四五六七八九十百]+[ 、]`,
		`[\(（][零一二三四五六七八九十百]+[\)）]`, `[\(（][0-9]{1,2}[\)）]`,
	},
	{
		`PART (?:ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN)`, `Chapter (?:[IVX]+|[0-9]+)`, `Section [0-9]+`,
		`Article [0-9]+`,
	},
	{`# `, `## `, `### `, `#### `, `##### `, `###### `},
}

// Numberings returns lists of patterns for [Titles] that find numbered headings in English and
// Chinese and those of Markdown.
func Numberings() [][]string {
	out := make([][]string, len(numberings))
	for i, n := range numberings {
		out[i] = append([]string(nil), n...)
	}
	return out
}

// ByMethod returns the chunker of one of RAGFlow's methods that look for headings: book (up to five
// levels, merged to size), laws (a path of two levels for each chunk), manual (merged sections).
func ByMethod(method string, count Counter, size int) (*Titles, error) {
	t := &Titles{Count: count, Levels: Numberings(), Limit: size}
	switch method {
	case "book":
		t.Group, t.Depth = true, 5
	case "laws":
		t.Depth = 2
	case "manual":
		t.Group = true
	default:
		return nil, fmt.Errorf("unknown method %q (one of book, laws, manual)", method)
	}
	return t, nil
}

// Naive returns the chunker of the method naive: pieces between delimiters, merged up to size.
func Naive(count Counter, size int, delimiter string) *Tokens {
	return &Tokens{Count: count, Size: size, Delimiters: Delimiters(delimiter)}
}

// Delimiters divides delimiters that are written as one text: those in backticks, and each other
// character.
func Delimiters(text string) []string {
	quoted, rest := quotedDelimiters(text)
	var delimiters []string
	for _, q := range quoted {
		delimiters = append(delimiters, "`"+q+"`")
	}
	for _, r := range rest {
		delimiters = append(delimiters, string(r))
	}
	return delimiters
}

// quotedDelimiters returns the delimiters in backticks of a text, and the rest of the text.
func quotedDelimiters(text string) (quoted []string, rest string) {
	for {
		before, from, _ := strings.Cut(text, "`")
		inner, after, closed := strings.Cut(from, "`")
		switch {
		case !closed:
			return quoted, rest + text
		case inner == "": // the second backtick may begin a delimiter
			rest += before + "`"
			text = "`" + after
		default:
			quoted, rest, text = append(quoted, inner), rest+before, after
		}
	}
}
