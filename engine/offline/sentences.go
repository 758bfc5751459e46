package offline

import (
	"cmp"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine/stable"
)

// longest is how many bytes of one sentence are quoted.
const longest = 400

// sentence is a quotable part of a source.
type sentence struct {
	text   string
	source string // citation number, or "" for text without one
	order  int
	score  float64
}

// sentences cuts a text at full stops and line ends. List marks at the start of lines are dropped,
// and so are headings and lines that end with a colon: they say nothing themselves.
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

// isLabel reports whether a line only announces the next one.
func isLabel(s string) bool { return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") }

// sentenceEnd is the index behind the first sentence of a line.
func sentenceEnd(line string) int {
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？', '；':
			return end
		case '.', '!', '?':
			// A stop inside 3.14 or a.b ends nothing.
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

// best picks the sentences that say most about a question: at most limit, those of least use left
// out, best first. Words that occur in few sentences count more. When nothing fits, the first
// sentence of each source stands in.
func best(list []sentence, about string, limit int) []sentence {
	want := wordSet(about)
	frequency := map[string]int{}
	held := make([][]string, len(list))
	for i, s := range list {
		held[i] = uniqueWords(s.text)
		for _, w := range held[i] {
			frequency[w]++
		}
	}
	var found []sentence
	for i, s := range list {
		for _, w := range held[i] {
			if want[w] {
				s.score += math.Log(1 + float64(len(list))/float64(frequency[w]))
			}
		}
		// Longer sentences hold more words by chance.
		s.score /= math.Sqrt(4 + float64(len(held[i])))
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

// top keeps the first sentences, without repetitions and without those that fit far less than the
// first.
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

// openings are the first sentences of the sources.
func openings(list []sentence) []sentence {
	var out []sentence
	for i, s := range list {
		if i == 0 || s.source != list[i-1].source {
			out = append(out, s)
		}
	}
	return out
}

// summarize is the best sentences of a text in their own order, in at most about 400 characters.
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
