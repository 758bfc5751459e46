package plugin

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Bounds of reading bodies in pieces, in one call of a plugin.
const (
	maxStreams  = 8         // open at once
	maxPieces   = 10_000    // reads of all streams
	maxStreamed = 256 << 20 // bytes of all streams
	minPiece    = 16        // a whole character fits
	maxPiece    = 1 << 20
	defPiece    = 64 << 10
)

// stream is a response or a file whose body the guest reads in pieces. It belongs to one call and
// ends with it.
type stream struct {
	t       *trip
	body    io.ReadCloser
	bytes   *int64 // read in the call, of all streams
	pending []byte // read and masked, not given yet
	ended   bool   // nothing is left behind pending
	buffer  []byte
}

// streams are the open bodies of a call, by their number in the guest.
type streams struct {
	open   map[int]*stream
	last   int // number given
	pieces int
	bytes  int64
}

// hold keeps the body of a response for http.read and returns its number.
func (r *requests) hold(t *trip, res *http.Response) (int, *contract.Error) {
	return r.holdBody(t, res.Body)
}

// holdBody keeps a body, which trip's stop interrupts, for http.read and returns its number.
func (r *requests) holdBody(t *trip, body io.ReadCloser) (int, *contract.Error) {
	if len(r.streams.open) >= maxStreams {
		const text = "%d streams are open; read them to the end or close one"
		return 0, contract.Errorf(contract.Denied, text, maxStreams)
	}
	if r.streams.open == nil {
		r.streams.open = map[int]*stream{}
	}
	r.streams.last++
	r.streams.open[r.streams.last] = &stream{t: t, body: body, bytes: &r.streams.bytes}
	return r.streams.last, nil
}

// hangUp closes a stream.
func (r *requests) hangUp(number int) {
	s := r.streams.open[number]
	delete(r.streams.open, number)
	s.t.stop()
	// The rest of the body is discarded, so an error of closing it does not matter.
	_ = s.body.Close()
}

// hangUpAll closes the streams that a call left open.
func (r *requests) hangUpAll() {
	for number := range r.streams.open {
		r.hangUp(number)
	}
}

// countPiece counts a request for a piece, and ends the call after too many. It has a count of its
// own, because a large body has more pieces than a plugin may make requests.
func (r *requests) countPiece() {
	if r.streams.pieces++; r.streams.pieces > maxPieces {
		r.g.stop(contract.Errorf(contract.TooManyCalls, "more than %d pieces of streams", maxPieces))
	}
}

// readOp is http.read.
func (r *requests) readOp(args engine.Value) (engine.Value, error) {
	number, err := streamNumber("http.read", args)
	if err != nil {
		return engine.Null, err
	}
	most, err := wholeOf("http.read", args, "max")
	if err != nil {
		return engine.Null, err
	}
	s := r.streams.open[number]
	switch {
	case s == nil:
		return engine.Null, contract.Errorf(contract.NotFound, "http.read: no stream %d is open", number)
	case most < 0:
		return engine.Null, contract.Errorf(contract.InvalidArgument, "http.read: max is %d", most)
	case most == 0:
		most = defPiece
	}
	var got []byte
	var e *contract.Error
	r.g.outside(func() { got, e = s.next(int(min(max(most, minPiece), maxPiece))) })
	if e != nil {
		r.hangUp(number)
		return engine.Null, e
	}
	done := s.ended && len(s.pending) == 0
	out := bodyMember(engine.NewObject(2), got).Set("done", engine.Bool(done)).Value()
	if done {
		r.hangUp(number)
	}
	return out, nil
}

func streamNumber(op string, args engine.Value) (int, error) {
	n, err := wholeOf(op, args, "stream")
	return int(n), err
}

// closeOp is http.close. Closing twice is not an error.
func (r *requests) closeOp(args engine.Value) (engine.Value, error) {
	number, err := streamNumber("http.close", args)
	if err == nil && r.streams.open[number] != nil {
		r.hangUp(number)
	}
	return engine.Object(), err
}

// bodyMember adds bytes to an answer: as text when they are some.
func bodyMember(b *engine.ObjectBuilder, body []byte) *engine.ObjectBuilder {
	if utf8.Valid(body) {
		return b.Set("body", engine.String(string(body)))
	}
	return b.Set("body_base64", engine.String(base64.StdEncoding.EncodeToString(body)))
}

// next returns 1 to most bytes, or none at the end. It waits for the next bytes of the body, not
// for most of them.
func (s *stream) next(most int) ([]byte, *contract.Error) {
	for {
		if n := s.ready(most); n > 0 || s.ended {
			// The caller encodes the piece before it reads again.
			out := s.pending[:n]
			s.pending = s.pending[n:]
			return out, nil
		}
		if e := s.fill(most); e != nil {
			return nil, e
		}
	}
}

// ready returns how many of the pending bytes may be passed on: not a possible beginning of a
// secret, and not a part of a character.
func (s *stream) ready(most int) int {
	n := len(s.pending)
	if !s.ended {
		n -= s.t.used.longest() - 1
	}
	if n = min(n, most); n <= 0 {
		return 0
	}
	if cut := partial(s.pending[:n]); (cut > 0 && !s.ended || n < len(s.pending)) && utf8.Valid(s.pending[:n-cut]) {
		n -= cut
	}
	return n
}

// partial counts the bytes at the end of b that begin a character without ending it.
func partial(b []byte) int {
	for n := 1; n <= min(len(b), utf8.UTFMax-1); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// fill reads once more.
func (s *stream) fill(most int) *contract.Error {
	if s.buffer == nil {
		s.buffer = make([]byte, most)
	}
	late := time.AfterFunc(fetchFor, s.t.stop)
	n, err := s.body.Read(s.buffer)
	late.Stop()
	if *s.bytes += int64(n); *s.bytes > maxStreamed {
		return contract.Errorf(contract.Upstream, "http.read: more than %d bytes in one call", maxStreamed)
	}
	s.pending = s.t.used.mask(append(s.pending, s.buffer[:n]...))
	if errors.Is(err, io.EOF) {
		s.ended = true
		return nil
	}
	if err != nil {
		return s.t.failure(err)
	}
	return nil
}
