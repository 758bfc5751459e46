package document

import (
	"bytes"
	"strings"
)

// linked is text under construction in which links may be open. The zero value is empty.
type linked struct {
	text   []byte
	open   bool
	start  int // of the open link
	target string
}

// maxTarget bounds the address of a link; longer ones are data.
const maxTarget = 2000

func (l *linked) Len() int       { return len(l.text) }
func (l *linked) String() string { return string(l.text) }

// Reset drops the text. An open link continues in the text that follows.
func (l *linked) Reset() { l.text, l.start = l.text[:0], 0 }

// begin begins a link, and ends an open one.
func (l *linked) begin(target string) {
	l.end()
	target = strings.TrimSpace(target)
	scheme, _, _ := strings.Cut(strings.ToLower(target), ":")
	switch {
	case target == "", target[0] == '#', len(target) > maxTarget, strings.ContainsAny(target, " \n\r\t<>"):
	case scheme == "javascript", scheme == "data", scheme == "file", scheme == "cid":
	default:
		l.open, l.start, l.target = true, len(l.text), target
	}
}

// end ends the open link, if any: its text becomes [text](target).
func (l *linked) end() {
	if !l.open {
		return
	}
	l.open = false
	shown := bytes.TrimSpace(l.text[l.start:])
	plain := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(l.target, "mailto:"), "tel:"), "/")
	if len(shown) == 0 || bytes.Contains(shown, []byte("](")) || strings.HasPrefix(string(shown), plain) {
		return
	}
	at := bytes.Index(l.text[l.start:], shown) + l.start
	link := "[" + string(shown) + "](" + l.target + ")" + string(l.text[at+len(shown):])
	l.text = append(l.text[:at], link...)
}
