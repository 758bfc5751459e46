package knowledge

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// passage is a piece of a document that is found as a whole.
type passage struct {
	heading string // the nearest heading above, when the text does not begin with it
	text    string
}

// longestPassage is where paragraphs are no longer put together, in bytes; one that is much longer
// is cut.
const (
	longestPassage = 800
	longestPart    = 1600
)

// passages cuts a text at blank lines; a heading stays with what follows it, short paragraphs stay
// together.
func passages(text string) iter.Seq2[passage, error] {
	return func(yield func(passage, error) bool) {
		held, heading, next := "", "", ""
		flush := func() bool {
			more := held == "" || cut(heading, held, yield)
			held, heading = "", next
			return more
		}
		for part := range strings.SplitSeq(text, "\n\n") {
			part = strings.TrimSpace(part)
			if part == "" {
				continue
			}
			isHeading := strings.HasPrefix(part, "#")
			if held != "" && (isHeading || len(held)+len(part) > longestPassage) && !flush() {
				return
			}
			if held == "" && isHeading {
				heading = ""
			}
			if isHeading {
				next, _, _ = strings.Cut(part, "\n")
				next = clip(strings.TrimSpace(strings.TrimLeft(next, "#")))
			}
			if held != "" {
				held += "\n"
			}
			held += part
		}
		flush()
	}
}

// cut divides a text that is too long at the end of a sentence, a line or a word. It reports
// whether to go on.
func cut(heading, text string, yield func(passage, error) bool) bool {
	for len(text) > longestPart {
		at := breakAt(text)
		if part := strings.TrimSpace(text[:at]); part != "" && !yield(passage{heading, part}, nil) {
			return false
		}
		text = strings.TrimSpace(text[at:])
	}
	return text == "" || yield(passage{heading, text}, nil)
}

// breakAt is where a long text is best divided: between half and the whole of a passage's length.
func breakAt(text string) int {
	window := text[:longestPassage]
	for _, marks := range [][]string{{"\n"}, {". ", "! ", "? ", "。", "！", "？"}, {"; ", "；", "，", ", "}, {" "}} {
		best := -1
		for _, m := range marks {
			if i := strings.LastIndex(window, m); i >= 0 && i+len(m) > best {
				best = i + len(m)
			}
		}
		if best > longestPassage/2 {
			return best
		}
	}
	at := longestPassage
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
