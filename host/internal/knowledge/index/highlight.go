package index

import (
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
)

// highlighter marks the words of a query in texts.
type highlighter struct {
	analyzer *terms.Analyzer
	wanted   map[string]bool
}

func newHighlighter(a *terms.Analyzer, query string) *highlighter {
	wanted := map[string]bool{}
	for _, t := range a.Marked(query) {
		wanted[t] = true
	}
	return &highlighter{a, wanted}
}

// mark puts <em> and </em> around the words of the query in a text; neighbouring ones of a script
// without blanks share one pair. The rest of the text stays as it is.
func (h *highlighter) mark(text string) string {
	var b strings.Builder
	last := 0 // of text, written
	open := false
	for _, t := range h.analyzer.Append(nil, text) {
		if !h.wanted[t.Text] || t.End <= last {
			continue
		}
		if open && t.Start > last {
			b.WriteString("</em>")
			open = false
		}
		if !open {
			b.WriteString(text[last:t.Start])
			b.WriteString("<em>")
			open, last = true, t.Start
		}
		b.WriteString(text[last:t.End])
		last = t.End
	}
	if open {
		b.WriteString("</em>")
	}
	return b.String() + text[last:]
}

// standIn reports whether a word of the query is in a text.
func (h *highlighter) standIn(text string) bool {
	return slices.ContainsFunc(h.analyzer.Append(nil, text), func(t terms.Term) bool { return h.wanted[t.Text] })
}
