package engine

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sound is generated for texts longer than voiceFrom runes, of at most voiceMost.
const (
	voiceFrom = 16
	voiceMost = 500
)

// streaming reads the lazy texts of nodes and sends the messages of nodes. Only the owner of the
// run uses it.
type streaming struct{ *applier }

// speaking is one message that is being sent. Only the run's owner uses it.
type speaking struct {
	r      *streaming
	call   *Call
	next   int             // the part that is said
	at     int             // bytes of it that were said, if it is a stream
	begun  bool            // the stream was begun
	opened bool            // it is its turn
	parts  []func() string // what was said, without reasoning; streams keep their text themselves
	voice  bool
	aloud  strings.Builder // text that has no sound yet
	runes  int
	think  bool
	stream *Stream // that is sent
	marked bool    // it had a think mark
	total  int64   // bytes said, reasoning included
	over   error   // the message, or the events of the run, became too large

	broken error // why a stream ended early
}

func (t *streaming) newSpeaking(call *Call) *speaking {
	return &speaking{r: t, call: call, voice: call.speech.Voice && t.opt.Ports.Speech != nil}
}

// speak sends the message of a node: texts at once, streams piece by piece, then the end of the
// message.
func (t *streaming) speak(call *Call) error {
	s := t.newSpeaking(call)
	for s.more() {
		part, late := call.speech.Parts[s.next], call.speech.Late[s.next]
		s.next++
		if late != nil {
			_, s.broken = part.Stream().await(s.r.work(), s.r.work(), s.r.signal, s.r.flushNotes)
			s.late(late)
		} else if stream := part.Stream(); stream != nil {
			s.begin(stream)
			s.broken = s.follow(stream)
		} else {
			s.whole(part)
		}
	}
	return s.end()
}

// more reports whether the message has a further part.
func (s *speaking) more() bool {
	switch {
	case s.next == len(s.call.speech.Parts) || s.broken != nil || s.over != nil:
		return false
	case s.r.canceled():
		s.broken = ErrCanceled
		return false
	}
	return true
}

// advance sends the available part of a message. It reports whether that was all.
func (s *speaking) advance() bool {
	for s.more() && !s.r.gone {
		part := s.call.speech.Parts[s.next]
		stream := part.Stream()
		if stream == nil {
			s.whole(part)
			s.next++
			continue
		}
		if late := s.call.speech.Late[s.next]; late != nil {
			if !stream.complete() {
				return false
			}
			_, s.broken = stream.result()
			s.late(late)
			s.next++
			continue
		}
		if !s.begun {
			s.begun = true
			s.begin(stream)
		}
		piece, ended := stream.next(s.at)
		s.at += len(piece)
		s.split(piece)
		if s.over != nil || s.r.gone || s.r.canceled() {
			continue
		}
		if !ended {
			return false
		}
		if _, s.broken = stream.result(); errors.Is(s.broken, context.Canceled) {
			s.broken = ErrCanceled
		}
		s.next, s.at, s.begun = s.next+1, 0, false
	}
	return true
}

// ready reports whether text can be sent.
func (s *speaking) ready() bool {
	if len(s.call.speech.Parts) == 0 {
		return true
	}
	stream := s.call.speech.Parts[0].Stream()
	return stream == nil || stream.length() > 0 || stream.ended()
}

// whole sends a part that is a text.
func (s *speaking) whole(part Value) {
	if text := part.Text(); text != "" {
		s.parts = append(s.parts, func() string { return text })
		s.say(text)
	}
}

// late sends a text that was there only at the end of a stream, unless that broke.
func (s *speaking) late(read func() (string, error)) {
	if s.broken != nil {
		return
	}
	text := ""
	if text, s.broken = read(); s.broken == nil {
		s.whole(String(text))
	}
}

// begin starts sending a stream.
func (s *speaking) begin(stream *Stream) {
	s.stream, s.marked = stream, false
	s.parts = append(s.parts, func() string {
		text, _ := stream.result()
		return WithoutReasoning(text)
	})
}

// end ends a message: the sound that is left, its text as the content of the node, message_end.
func (s *speaking) end() error {
	t, call, broken := s.r, s.call, s.broken
	if s.think {
		s.mark(false)
	}
	s.rest()
	content := ""
	if s.over == nil {
		content = s.text()
		s.over = t.putOut(call.node.index, "content", String(content))
	}
	if t.gone {
		return nil
	}
	if broken != nil && t.canceled() {
		t.dropStreams(ErrCanceled)
		return ErrCanceled
	}
	if s.over != nil {
		t.emitMessageEnd(&Said{Interrupted: true}, Null)
		return s.over
	}
	said := &Said{Text: content, Interrupted: broken != nil}
	if call.node.speaker != nil && broken == nil {
		if err := t.finishSpeech(call, said); err != nil {
			return err
		}
	}
	for _, i := range t.pending { // what a streaming agent found belongs to this message
		if writer := t.streams[i]; writer.deferred.stream.ended() {
			writer.mu.Lock()
			t.takeCites(writer)
			writer.mu.Unlock()
		}
	}
	ref := Null
	if n := len(t.st.retrieval); n > 0 && hasCitation(content) {
		ref = t.st.retrieval[n-1].value()
	}
	t.emitMessageEnd(said, ref)
	return nil
}

func (t *streaming) finishSpeech(call *Call, said *Said) (err error) {
	defer recovered(&err)
	err = call.node.speaker.Finish(t.work(), call, said)
	t.applyCall(call)
	return err
}

// follow sends a lazy text as it grows. An error of its writer ends the text; it is that node's
// error.
func (s *speaking) follow(stream *Stream) error {
	err := stream.each(s.r.work(), s.r.emitter, func(piece string) bool {
		if s.r.canceled() {
			return false
		}
		s.split(piece)
		return s.over == nil && !s.r.gone
	})
	if s.over != nil {
		return s.over
	}
	if errors.Is(err, context.Canceled) {
		return ErrCanceled
	}
	return err
}

// text returns the whole spoken text. It is put together at the end, so that a long stream is held
// once.
func (s *speaking) text() string {
	texts := make([]string, len(s.parts))
	for i, part := range s.parts {
		texts[i] = part()
	}
	return strings.Join(texts, "")
}

// split separates reasoning from answer. Tags arrive whole, because the writer's pieces are
// normalised before.
func (s *speaking) split(piece string) {
	for piece != "" && s.over == nil && !s.r.gone && !s.r.canceled() {
		at, tag := nextTag(piece)
		if at > 0 {
			s.say(piece[:at])
		}
		if tag == ThinkClose && !s.marked && s.stream != nil {
			s.foundReasoning()
		}
		if tag != "" {
			s.marked = true
			s.mark(tag == ThinkOpen)
		}
		piece = piece[at+len(tag):]
	}
}

// foundReasoning sends the message again: the part that was sent turned out to be reasoning,
// because a closing mark came without an opening one. Readers of the wire keep that part.
func (s *speaking) foundReasoning() {
	s.aloud.Reset()
	s.runes = 0
	if !s.r.logs() {
		return
	}
	s.r.emitData(EventMessageReset, "", Object())
	for _, part := range s.parts[:len(s.parts)-1] {
		s.r.emitMessage(part(), false, false, nil)
	}
	text, _ := s.stream.result()
	reasoning, _, _ := strings.Cut(strings.TrimPrefix(text, ThinkOpen), ThinkClose)
	s.mark(true)
	s.r.emitMessage(reasoning, false, false, nil)
}

func (s *speaking) mark(start bool) {
	if s.think != start {
		s.think = start
		s.r.emitMessage("", start, !start, nil)
	}
}

// say sends a piece of text, with sound if enough text is buffered. Reasoning is not voiced. The
// limit of texts applies to a message, reasoning included.
func (s *speaking) say(piece string) {
	s.total += int64(len(piece))
	if s.over = within(ErrTextTooLarge, s.total, s.r.opt.Limits.Text); s.over == nil {
		s.over = s.r.checkRoom(textSize(piece))
	}
	if s.over != nil {
		return
	}
	if s.think {
		s.r.emitMessage(piece, false, false, nil)
		return
	}
	var sound []byte
	if s.voice {
		s.aloud.WriteString(piece)
		if s.runes += utf8.RuneCountInString(piece); s.runes > voiceFrom {
			sound = s.sound()
		}
	}
	s.r.emitMessage(piece, false, false, sound)
}

// rest voices the remaining text.
func (s *speaking) rest() {
	if s.voice && s.aloud.Len() > 0 && !s.r.canceled() {
		if sound := s.sound(); len(sound) > 0 {
			s.r.emitMessage("", false, false, sound)
		}
	}
}

func (s *speaking) sound() []byte {
	text := speakable(s.aloud.String())
	s.aloud.Reset()
	s.runes = 0
	if text == "" {
		return nil
	}
	sound, err := s.r.opt.Ports.Speech.Speak(s.r.work(), text)
	if err != nil {
		s.r.note(EventWarning, nil, Object("text", "speech: "+err.Error()))
		return nil
	}
	return sound
}

// speakable returns text as a voice can read it: without control characters and pictures, blanks
// squeezed, cut.
func speakable(text string) string {
	var b strings.Builder
	n, blank := 0, false
	for _, c := range text {
		switch {
		case unicode.IsSpace(c):
			blank = true
			continue
		case c == utf8.RuneError, unicode.IsControl(c), unicode.Is(unicode.So, c), unicode.Is(unicode.Cs, c),
			c >= 0x1F000 && c <= 0x1FAFF, c == 0x200D, c == 0xFE0F:
			continue
		}
		if blank && n > 0 {
			b.WriteByte(' ')
			n++
		}
		blank = false
		if n >= voiceMost {
			break
		}
		b.WriteRune(c)
		n++
	}
	return b.String()
}
