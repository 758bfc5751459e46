package offline

import (
	"cmp"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine/stable"
)

// longest bounds the bytes quoted from one sentence.
const longest = 400

// sentence is a quotable part of a source.
type sentence struct {
	text   string
	source string // citation number, or "" for text without one
	order  int
	score  float64
}

// sentences splits a text at full stops and line ends. It drops list marks at the start of lines,
// and lines that are headings or end with a colon because they contain no statement.
func sentences(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.TrimLeft(line, "*-•> \t")
		for line != "" {
			end := sentenceEnd(line)
			if s := strings.TrimSpace(line[:end]); len(Words(s)) > 0 && !isLabel(s) {
				out = append(out, shorten(s))
			}
			line = strings.TrimSpace(line[end:])
		}
	}
	return out
}

// isLabel reports whether a line only introduces the next one.
func isLabel(s string) bool { return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") }

// sentenceEnd returns the index after the first sentence of a line.
func sentenceEnd(line string) int {
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？', '；':
			return end
		case '.', '!', '?':
			// The dot in 3.14 or a.b does not end a sentence.
			if next, _ := utf8.DecodeRuneInString(line[end:]); end == len(line) || unicode.IsSpace(next) {
				return end
			}
		}
	}
	return len(line)
}

func shorten(s string) string {
	if len(s) <= longest {
		return s
	}
	end := longest
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// best returns the sentences most relevant to a question, best first: at most limit, without the
// least relevant ones. Words that occur in few sentences count more. If none matches, it returns
// the first sentence of each source.
func best(list []sentence, about string, limit int) []sentence {
	want := wordSet(about)
	frequency := map[string]int{}
	terms := make([][]string, len(list))
	for i, s := range list {
		terms[i] = uniqueWords(s.text)
		for _, w := range terms[i] {
			frequency[w]++
		}
	}
	var found []sentence
	for i, s := range list {
		for _, w := range terms[i] {
			if want[w] {
				s.score += math.Log(1 + float64(len(list))/float64(frequency[w]))
			}
		}
		// Longer sentences match more words by chance.
		s.score /= math.Sqrt(4 + float64(len(terms[i])))
		if s.score > 0 {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		found = openings(list)
	}
	stable.Sort(found, func(a, b sentence) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.order, b.order))
	})
	return top(found, limit)
}

// top returns the first sentences, without duplicates and without those whose score is far below
// the first.
func top(found []sentence, limit int) []sentence {
	var out []sentence
	seen := map[string]bool{}
	for _, s := range found {
		if len(out) == limit || s.score*3 < found[0].score {
			break
		}
		if !seen[s.text] {
			seen[s.text] = true
			out = append(out, s)
		}
	}
	return out
}

// openings returns the first sentence of each source.
func openings(list []sentence) []sentence {
	var out []sentence
	for i, s := range list {
		if i == 0 || s.source != list[i-1].source {
			out = append(out, s)
		}
	}
	return out
}

// summarize returns the best sentences of a text in their original order, about 400 characters at
// most.
func summarize(text, about string) string {
	var list []sentence
	for i, s := range sentences(text) {
		list = append(list, sentence{text: s, order: i})
	}
	picked := best(list, about, 3)
	stable.Sort(picked, func(a, b sentence) int { return cmp.Compare(a.order, b.order) })
	var parts []string
	for _, s := range picked {
		parts = append(parts, s.text)
	}
	return shorten(strings.Join(parts, " "))
}
