package model

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// marks sends the text of an answer with think marks around its reasoning. The templates of some
// models begin with the opening mark, so that their answers have only the closing one. Where that
// is known the answer begins as reasoning.
type marks struct {
	send    func(string) error
	reasons bool // the answer is expected to begin as reasoning without a mark

	sent     bool // text or reasoning was sent
	thinking bool // reasoning of a member is open
	opened   bool // any opening mark was seen or sent
	inside   bool // a mark in the text is open
	assumed  bool // reasoning was opened because of reasons
	lone     bool // a closing mark came without an opening one
	wrong    bool // assumed, but no closing mark came
	spoke    bool // text was sent before any mark
	tail     string
	held     string          // the end of reasoning that may be the start of a mark
	all      strings.Builder // text from the first mark on
}

// thought sends reasoning.
func (m *marks) thought(text string) error {
	if text == "" || m.inside { // some servers send it in both places
		return nil
	}
	if !m.thinking {
		m.thinking, m.opened = true, true
		if err := m.put(engine.ThinkOpen); err != nil {
			return err
		}
	}
	text = noMarks.Replace(m.held + text)
	held := max(markedAt(text, engine.ThinkOpen), markedAt(text, engine.ThinkClose))
	text, m.held = text[:len(text)-held], text[len(text)-held:]
	return m.put(text)
}

// noMarks removes marks from reasoning: some servers leave them in its member, and they would end
// it.
var noMarks = strings.NewReplacer(engine.ThinkOpen, "", engine.ThinkClose, "")

// markedAt returns how many bytes at the end of a text may be the start of a mark.
func markedAt(text, mark string) int {
	for n := min(len(mark)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, mark[:n]) {
			return n
		}
	}
	return 0
}

// text sends text of the answer, which may have marks in it.
func (m *marks) text(text string) error {
	if text == "" {
		return nil
	}
	if err := m.endThought(); err != nil {
		return err
	}
	seen := m.tail + text
	m.tail = seen[max(0, len(seen)-len(engine.ThinkClose)+1):]
	m.opened = m.opened || strings.Contains(seen, engine.ThinkOpen)
	closes := strings.Contains(seen, engine.ThinkClose)
	if opens := strings.LastIndex(seen, engine.ThinkOpen); opens >= 0 || closes {
		m.inside = opens > strings.LastIndex(seen, engine.ThinkClose)
	}
	switch {
	case m.opened && !m.assumed || m.lone:
	case m.reasons && !m.assumed && !strings.HasPrefix(engine.ThinkOpen, strings.TrimSpace(text)):
		m.assumed = true
		if err := m.put(engine.ThinkOpen); err != nil {
			return err
		}
		m.lone = closes
	case closes:
		m.lone = true
		if !m.sent && !m.assumed { // the whole reasoning is in this piece
			text = engine.ThinkOpen + text
		}
	}
	if !m.spoke {
		m.all.WriteString(text)
		begun := strings.TrimSpace(m.all.String())
		if !m.opened && !m.assumed && !strings.HasPrefix(engine.ThinkOpen, begun) {
			m.spoke = true
			m.all.Reset()
		}
	}
	return m.put(text)
}

func (m *marks) endThought() error {
	if !m.thinking {
		return nil
	}
	held := m.held
	m.thinking, m.held = false, ""
	return m.put(held + engine.ThinkClose)
}

// end closes what is open. Text that was taken for reasoning, but was not closed, is the answer if
// the answer is whole and has nothing else.
func (m *marks) end(whole bool) error {
	if err := m.endThought(); err != nil {
		return err
	}
	m.wrong = m.assumed && !m.lone
	rest, answers := m.all.String(), m.wrong || whole && !m.spoken()
	if at := strings.LastIndex(rest, engine.ThinkOpen); at >= 0 {
		rest = rest[at+len(engine.ThinkOpen):]
	} else if !m.wrong {
		return nil
	}
	if strings.Contains(rest, engine.ThinkClose) {
		return nil
	}
	if err := m.put(engine.ThinkClose); err != nil || !answers {
		return err
	}
	m.spoke = strings.TrimSpace(rest) != ""
	return m.put(strings.TrimLeft(rest, " \n"))
}

// spoken reports whether there was anything but reasoning.
func (m *marks) spoken() bool {
	return m.spoke || m.lone || strings.TrimSpace(engine.WithoutReasoning(m.all.String())) != ""
}

func (m *marks) put(text string) error {
	m.sent = true
	return m.send(text)
}
