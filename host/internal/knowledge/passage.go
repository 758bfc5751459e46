package knowledge

import (
	"strings"
	"unicode/utf8"
)

// passage is a piece of a document that is found as a whole.
type passage struct {
	heading string // the nearest heading above, when the text does not begin with it
	text    string
}

// longestPassage is where paragraphs are no longer put together, in bytes; one that is much longer is cut.
const (
	longestPassage = 800
	longestPart    = 1600
)

// passages cuts a text at blank lines; a heading stays with what follows it, short paragraphs stay together.
func passages(text string) []passage {
	var out []passage
	held, heading, next := "", "", ""
	flush := func() {
		if held != "" {
			out = append(out, cut(heading, held)...)
		}
		held, heading = "", next
	}
	for part := range strings.SplitSeq(text, "\n\n") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		isHeading := strings.HasPrefix(part, "#")
		if held != "" && (isHeading || len(held)+len(part) > longestPassage) {
			flush()
		}
		if held == "" && isHeading {
			heading = ""
		}
		if isHeading {
			next, _, _ = strings.Cut(part, "\n")
			next = strings.TrimSpace(strings.TrimLeft(next, "#"))
		}
		if held != "" {
			held += "\n"
		}
		held += part
	}
	flush()
	return out
}

// cut divides a text that is too long at the end of a sentence, a line or a word.
func cut(heading, text string) []passage {
	var out []passage
	for len(text) > longestPart {
		at := breakAt(text)
		if part := strings.TrimSpace(text[:at]); part != "" {
			out = append(out, passage{heading, part})
		}
		text = strings.TrimSpace(text[at:])
	}
	if text != "" {
		out = append(out, passage{heading, text})
	}
	return out
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
