package model

import (
	"regexp"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// tags removes what templates of models leave in the text of an answer: reasoning in marks of other
// names at its start, the headers of channels, and the mark that ends the answer. Marks that the
// prompt requests are text.
type tags struct {
	request *engine.ModelRequest
	text    func(string) error
	thought func(string) error

	held  string // the start of the answer, or what may be the start of a mark
	close string // ends the reasoning that is open; "" outside
	begun bool   // text of the answer was sent
	last  string // the piece of text that was sent last
	spans bool   // it has <s>, which </s> closes
}

// channel is a mark at the start of an answer. What follows it until close is reasoning; a header
// without one is left out.
type channel struct{ open, close string }

var channels = []channel{
	{"<thought>", "</thought>"},                   // Gemini's endpoint
	{"<thinking>", "</thinking>"},                 // Nova, Claude 3
	{"<reasoning>", "</reasoning>"},               // fine-tuned models
	{"[THINK]", "[/THINK]"},                       // Magistral
	{"<seed:think>", "</seed:think>"},             // Seed
	{"◁think▷", "◁/think▷"},                       // Kimi-VL
	{"<|channel>thought", "<channel|>"},           // Gemma 4
	{"<|channel|>analysis<|message|>", "<|end|>"}, // gpt-oss, as the next three
	{"<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"},
	{"<|start|>assistant<|channel|>final<|message|>", ""},
	{"<|channel|>final<|message|>", ""},
}

// thinkTag is the usual mark in another case, or with attributes.
var thinkTag = regexp.MustCompile(`^<(?i:think)(\s[^<>]{0,40})?>`)

// openThink is the start of one.
var openThink = regexp.MustCompile(`^<(?i:think)(\s[^<>]{0,40})?$`)

// endMarks are the ends of answers in templates. Servers that do not know them send them as text.
var endMarks = []string{
	"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "<end_of_turn>", "<|end|>",
	"<|return|>", "<|END_OF_TURN_TOKEN|>", "<｜end▁of▁sentence｜>", "</s>",
}

const blanks = " \t\r\n"

// mostBlanks bounds the white space that is kept at the start of an answer.
const mostBlanks = 64

// ending reports whether a text is a mark at the end of an answer, or the start of one.
func ending(text string) bool {
	plain := strings.TrimRight(text, blanks)
	return slices.ContainsFunc(endMarks, func(mark string) bool {
		return plain == mark || strings.HasPrefix(mark, text)
	})
}

// push takes a piece of text.
func (t *tags) push(piece string) error {
	if piece == "" {
		return nil
	}
	piece = t.held + piece
	t.held = ""
	for piece != "" {
		if t.close != "" {
			rest, err := t.reason(piece)
			if err != nil {
				return err
			}
			piece = rest
			continue
		}
		if t.begun {
			return t.say(piece)
		}
		start := strings.TrimLeft(piece, blanks)
		c, size, may := t.opening(start)
		switch {
		case may || start == "":
			t.held = piece[max(0, len(piece)-len(start)-mostBlanks):]
			return nil
		case size > 0:
			t.close, piece = c.close, start[size:]
		default:
			t.begun = true
		}
	}
	return nil
}

// opening returns the channel that a text begins with and the size of its mark; may means that more
// text decides.
func (t *tags) opening(text string) (c channel, size int, may bool) {
	if text == "" || strings.IndexByte("<[\xe2", text[0]) < 0 {
		return c, 0, false
	}
	for _, c := range channels {
		if len(text) < len(c.open) && strings.EqualFold(c.open[:len(text)], text) {
			may = true
		} else if len(text) >= len(c.open) && strings.EqualFold(c.open, text[:len(c.open)]) && !t.wanted(c.open) {
			return c, len(c.open), false
		}
	}
	tag := thinkTag.FindString(text)
	if tag != "" && tag != engine.ThinkOpen {
		return channel{tag, engine.ThinkClose}, len(tag), false
	}
	return c, 0, may || tag == "" && openThink.MatchString(text)
}

// wanted reports whether the prompt speaks of a mark.
func (t *tags) wanted(mark string) bool {
	return strings.Contains(t.request.System, mark) ||
		slices.ContainsFunc(t.request.Messages, func(m engine.ModelMessage) bool {
			return m.Role == "user" && strings.Contains(m.Content, mark)
		})
}

// reason sends reasoning until its end, and returns what follows.
func (t *tags) reason(text string) (rest string, err error) {
	for at := range len(text) - len(t.close) + 1 {
		if strings.EqualFold(text[at:at+len(t.close)], t.close) {
			rest, t.close = text[at+len(t.close):], ""
			return rest, t.thought(text[:at])
		}
	}
	at := len(text)
	for n := min(len(t.close)-1, len(text)); n > 0; n-- {
		if strings.EqualFold(text[len(text)-n:], t.close[:n]) {
			at -= n
			break
		}
	}
	t.held = text[at:]
	return "", t.thought(text[:at])
}

// say sends text of the answer, except what may be a mark at its end.
func (t *tags) say(text string) error {
	if at := strings.LastIndexByte(text, '<'); at >= 0 && ending(text[at:]) {
		text, t.held = text[:at], text[at:]
	}
	if text == "" {
		return nil
	}
	// A single < is held back, so that one cut is possible.
	cut := strings.HasSuffix(t.last, "<s") && text[0] == '>'
	t.spans = t.spans || cut || strings.Contains(text, "<s>")
	t.last = text
	return t.text(text)
}

// end sends what is held back, except a mark that ends the answer.
func (t *tags) end() error {
	held := t.held
	t.held = ""
	if t.close != "" {
		return t.thought(held)
	}
	mark := strings.TrimRight(held, blanks)
	if slices.Contains(endMarks, mark) && (mark != "</s>" || !t.spans) && !t.wanted(mark) || mark == "" {
		return nil
	}
	return t.text(held)
}
