package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sound is made for stretches longer than voiceFrom runes, of at most voiceMost.
const (
	voiceFrom = 16
	voiceMost = 500
)

// speaking is one message on its way out. Only the run's owner uses it.
type speaking struct {
	r     *run
	parts []func() string // what was said, without reasoning; streams keep their text themselves
	voice bool
	aloud strings.Builder // text that has no sound yet
	runes int
	think bool
	total int64 // bytes said, reasoning included
	over  error // the message, or the events of the run, became too large
}

// speak hands out what a node says: texts at once, streams piece by piece, then the end of the
// message.
func (r *run) speak(call *Call) error {
	s := &speaking{r: r, voice: call.speech.Voice && r.opt.Ports.Speech != nil}
	var broken error
	for _, part := range call.speech.Parts {
		if r.canceled() {
			broken = ErrCanceled
			break
		}
		if stream := part.Stream(); stream != nil {
			if broken = s.stream(stream); broken != nil {
				break
			}
			continue
		}
		if text := part.Text(); text != "" {
			s.parts = append(s.parts, func() string { return text })
			s.say(text)
		}
		if s.over != nil {
			break
		}
	}
	if s.think {
		s.mark(false)
	}
	s.rest()
	content := ""
	if s.over == nil {
		content = s.text()
		s.over = r.putOut(call.node.index, "content", String(content))
	}
	if r.gone {
		return nil
	}
	if broken != nil && r.canceled() {
		r.dropStreams(ErrCanceled)
		return ErrCanceled
	}
	if s.over != nil {
		r.emitMessageEnd(&Said{Interrupted: true}, Null)
		return s.over
	}
	said := &Said{Text: content, Interrupted: broken != nil}
	if call.node.speaker != nil && broken == nil {
		if err := r.finishSpeech(call, said); err != nil {
			return err
		}
	}
	for _, i := range r.pending { // what a streaming agent found belongs to this message
		if writer := r.streams[i]; writer.deferred.stream.ended() {
			writer.mu.Lock()
			r.takeCites(writer)
			writer.mu.Unlock()
		}
	}
	ref := Null
	if n := len(r.st.retrieval); n > 0 && hasCitation(content) {
		ref = r.st.retrieval[n-1].value()
	}
	r.emitMessageEnd(said, ref)
	return nil
}

func (r *run) finishSpeech(call *Call, said *Said) (err error) {
	defer recovered(&err)
	err = call.node.speaker.Finish(r.work(), call, said)
	r.apply(call)
	return err
}

// stream says a lazy text as it comes. An error of its writer ends the text; it is that node's
// error.
func (s *speaking) stream(stream *Stream) error {
	s.parts = append(s.parts, func() string {
		text, _ := stream.result()
		return WithoutReasoning(text)
	})
	err := stream.each(s.r.work(), s.r, func(piece string) bool {
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

// text is everything that was said. It is put together at the end, so that a long stream is held
// once.
func (s *speaking) text() string {
	texts := make([]string, len(s.parts))
	for i, part := range s.parts {
		texts[i] = part()
	}
	return strings.Join(texts, "")
}

// split tells reasoning from answer. Tags come whole: the writer's pieces were put in order before.
func (s *speaking) split(piece string) {
	for piece != "" && s.over == nil && !s.r.gone && !s.r.canceled() {
		at, tag := nextTag(piece)
		if at > 0 {
			s.say(piece[:at])
		}
		if tag != "" {
			s.mark(tag == ThinkOpen)
		}
		piece = piece[at+len(tag):]
	}
}

func (s *speaking) mark(start bool) {
	if s.think != start {
		s.think = start
		s.r.emitMessage("", start, !start, nil)
	}
}

// say hands out a piece of text, with sound when enough has come together. Reasoning is not voiced.
// A message is no longer than a text may be, reasoning included.
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

// rest voices what is left.
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

// speakable is text as a voice can read it: without control characters and pictures, blanks
// squeezed, cut.
func speakable(text string) string {
	var b strings.Builder
	n, blank := 0, false
	for _, c := range text {
		switch {
		case unicode.IsSpace(c):
			blank = true
			continue
		case c == utf8.RuneError, unicode.IsControl(c), unicode.Is(unicode.So, c), unicode.Is(unicode.Cs, c), c >= 0x1F000 && c <= 0x1FAFF, c == 0x200D, c == 0xFE0F:
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

// flushPending finishes nodes whose streams have ended, in the order they were announced.
func (r *run) flushPending() {
	for i := 0; i < len(r.pending) && !r.gone; {
		call := r.streams[r.pending[i]]
		if call.deferred.stream.ended() {
			r.finishStream(call)
		} else {
			i++
		}
	}
}

// finishStream settles a node whose text is complete.
func (r *run) finishStream(call *Call) {
	n := call.node
	r.flushNotes()
	r.forgetStream(n.index)
	r.unreserve(call)
	text, err := call.deferred.stream.result()
	call.mu.Lock()
	for i := range call.outs {
		if o := &call.outs[i]; o.name == call.deferred.output && o.value.Stream() != nil {
			o.value = String(text)
		}
	}
	call.mu.Unlock()
	call.err = err
	if r.canceled() && err != nil {
		call.err = ErrCanceled
	}
	r.apply(call)
	if call.err != nil {
		if jumped := r.handle(call); jumped {
			r.sched.ScheduleOnError(n.index)
		}
	}
	r.emitNodeFinished(call)
}

func (r *run) forgetStream(node nodeIndex) {
	r.pending = slices.DeleteFunc(r.pending, func(n nodeIndex) bool { return n == node })
	delete(r.streams, node)
}

// drainRestarted reads the streams of nodes that are about to run again, so that every start has
// its finish. It is false when the run ends here.
func (r *run) drainRestarted(batch []nodeIndex) bool {
	if len(r.pending) == 0 {
		return true
	}
	for _, n := range batch {
		if r.streams[n] == nil || r.gone {
			continue
		}
		r.drain(n)
		if call := r.streams[n]; call != nil && call.deferred.stream.ended() {
			r.finishStream(call)
		}
		switch {
		case r.canceled():
			r.finishCanceled()
			return false
		case r.failed != nil:
			r.endFailed()
			return false
		}
	}
	return !r.gone
}

// drain reads a stream nobody asked for, so that its node can finish.
func (r *run) drain(node nodeIndex) {
	call := r.streams[node]
	err := call.deferred.stream.each(r.work(), r, func(string) bool { return !r.canceled() && !r.gone })
	if err != nil && r.canceled() {
		r.dropStreams(ErrCanceled)
	}
}

// dropStreams finishes nodes whose streams will not be read: with the reason as their error, or
// without one when the run failed elsewhere.
func (r *run) dropStreams(reason error) {
	for len(r.pending) > 0 && !r.gone {
		call := r.streams[r.pending[0]]
		if call.deferred.stream.ended() {
			r.finishStream(call)
			continue
		}
		r.forgetStream(call.node.index)
		r.unreserve(call)
		call.close()
		call.mu.Lock()
		r.addUsage(call)
		call.mu.Unlock()
		text, _ := call.deferred.stream.result()
		r.st.setOut(call.node.index, call.deferred.output, Null)
		if reason != nil {
			r.st.setOut(call.node.index, call.deferred.output, String(text))
			r.st.setOut(call.node.index, errorOutput, String(errorText(reason)))
		}
		call.err = reason
		r.emitNodeFinished(call)
	}
}
