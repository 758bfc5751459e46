package engine

import "strings"

// Reasoning is marked inside a model's text. Drivers differ: some put one pair of tags around it,
// some write </think> after every piece of it. Inside the engine there is one pair.
const (
	ThinkOpen  = "<think>"
	ThinkClose = "</think>"
)

// thinkNormalizer turns a model's pieces into pieces with one pair of tags, each tag being a
// separate piece. After a closing tag the reasoning continues if the next piece closes again.
//
// Some models answer without the opening tag: the text before a lone closing tag was reasoning.
// That tag is passed on; see [WithoutReasoning].
type thinkNormalizer struct {
	held    string // the start of what may become a tag
	open    bool
	closing bool // a closing tag was seen, and nothing after it yet
	opened  bool // an opening tag was seen
	lone    bool // a closing tag was seen before any opening one
	said    bool // text of the answer was passed on
	trim    bool // blank lines between leading reasoning and the answer are left out
}

// push takes one piece; last marks the final one.
func (n *thinkNormalizer) push(piece string, last bool, emit func(string) error) error {
	text := n.held + piece
	n.held = ""
	for text != "" {
		if n.closing {
			n.closing = false
			if !closesFirst(text) {
				n.open, n.trim = false, !n.said
				if err := emit(ThinkClose); err != nil {
					return err
				}
			}
		}
		if n.trim {
			if text = strings.TrimLeft(text, " \t\r\n"); text == "" {
				break
			}
			n.trim = false
		}
		at, tag := nextTag(text)
		if tag == "" && !last {
			at -= heldBack(text)
		}
		if at > 0 {
			n.said = n.said || !n.open
			if err := emit(text[:at]); err != nil {
				return err
			}
		}
		text = text[at:]
		switch tag {
		case "":
			n.held = text
			return nil
		case ThinkOpen:
			n.opened = true
			if !n.open {
				n.open = true
				if err := emit(ThinkOpen); err != nil {
					return err
				}
			}
		case ThinkClose:
			n.closing = n.open
			if !n.opened {
				n.opened, n.lone, n.trim = true, true, true
				if err := emit(ThinkClose); err != nil {
					return err
				}
			}
		}
		text = text[len(tag):]
	}
	if last && n.open {
		n.open = false
		return emit(ThinkClose)
	}
	return nil
}

// closesFirst reports whether the next tag in text is a closing one.
func closesFirst(text string) bool {
	_, tag := nextTag(text)
	return tag == ThinkClose
}

// nextTag finds the first tag; without one it is "" at the end of text.
func nextTag(text string) (int, string) {
	for at := 0; ; at++ {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			return len(text), ""
		}
		at += i
		for _, tag := range [...]string{ThinkOpen, ThinkClose} {
			if strings.HasPrefix(text[at:], tag) {
				return at, tag
			}
		}
	}
}

// heldBack returns the length of the end of text that may become a tag.
func heldBack(text string) int {
	i := strings.LastIndexByte(text, '<')
	if i < 0 {
		return 0
	}
	if end := text[i:]; strings.HasPrefix(ThinkOpen, end) || strings.HasPrefix(ThinkClose, end) {
		return len(end)
	}
	return 0
}

// WithoutReasoning returns a model's text without the parts between think marks. The text before a
// closing mark that was not opened is reasoning as well.
func WithoutReasoning(text string) string {
	if !strings.Contains(text, ThinkClose) && !strings.Contains(text, ThinkOpen) {
		return text
	}
	text = WithOpening(text)
	var b strings.Builder
	inside := false
	for text != "" {
		at, tag := nextTag(text)
		if !inside {
			b.WriteString(text[:at])
		}
		text = text[at+len(tag):]
		switch tag {
		case ThinkOpen:
			inside = true
		case ThinkClose:
			inside = false
		}
	}
	return b.String()
}

// WithOpening returns a model's text with an opening mark at its start if its first mark is a
// closing one.
func WithOpening(text string) string {
	if _, tag := nextTag(text); tag == ThinkClose {
		return ThinkOpen + text
	}
	return text
}
