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
	assumed  bool // reasoning was opened because of reasons
	lone     bool // a closing mark came without an opening one
	wrong    bool // assumed, but no closing mark came
	tail     string
	all      strings.Builder // text after an assumed opening
}

// thought sends reasoning.
func (m *marks) thought(text string) error {
	if text == "" {
		return nil
	}
	if !m.thinking {
		m.thinking, m.opened = true, true
		if err := m.put(engine.ThinkOpen); err != nil {
			return err
		}
	}
	return m.put(text)
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
	if m.assumed && !m.lone {
		m.all.WriteString(text)
	}
	return m.put(text)
}

func (m *marks) endThought() error {
	if !m.thinking {
		return nil
	}
	m.thinking = false
	return m.put(engine.ThinkClose)
}

// end closes what is open. Text that was taken for reasoning, but was not closed, is the answer.
func (m *marks) end() error {
	if err := m.endThought(); err != nil || !m.assumed || m.lone {
		return err
	}
	m.wrong = true
	if err := m.put(engine.ThinkClose); err != nil {
		return err
	}
	return m.put(m.all.String())
}

func (m *marks) put(text string) error {
	m.sent = true
	return m.send(text)
}
