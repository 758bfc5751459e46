package plugin

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"time"
	"unicode/utf8"
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

// stream is a response whose body the guest reads in pieces. It belongs to one call and ends with
// it.
type stream struct {
	t       *trip
	body    io.ReadCloser
	stop    context.CancelFunc
	pending []byte // read and masked, not given yet
	ended   bool   // nothing is left behind pending
	buffer  []byte
}

// streams are the bodies a call has open, by the number the guest knows.
type streams struct {
	open   map[int]*stream
	last   int // number given
	pieces int
	bytes  int64
}

// hold keeps the body of a response for http.read and gives its number.
func (g *guest) hold(t *trip, res *http.Response, stop context.CancelFunc) (int, *Error) {
	if len(g.streams.open) >= maxStreams {
		return 0, fail(Denied, "http.fetch: %d streams are open; read them to the end or close one", maxStreams)
	}
	if g.streams.open == nil {
		g.streams.open = map[int]*stream{}
	}
	g.streams.last++
	g.streams.open[g.streams.last] = &stream{t: t, body: res.Body, stop: stop}
	return g.streams.last, nil
}

// hangUp closes a stream.
func (g *guest) hangUp(number int) {
	s := g.streams.open[number]
	delete(g.streams.open, number)
	s.stop()
	// Nobody waits for the rest: what closing says about it is of no use.
	_ = s.body.Close()
}

// hangUpAll closes what a call left open.
func (g *guest) hangUpAll() {
	for number := range g.streams.open {
		g.hangUp(number)
	}
}

type readArgs struct {
	Stream int `json:"stream"`
	Max    int `json:"max"`
}

// piece is what http.read gives.
type piece struct {
	Body       *string `json:"body,omitempty"`
	BodyBase64 string  `json:"body_base64,omitempty"`
	Done       bool    `json:"done"`
}

// pieceCall counts a request for a piece. It has a count of its own, because a large body has more
// pieces than a plugin may make requests.
func (g *guest) pieceCall() {
	if g.streams.pieces++; g.streams.pieces > maxPieces {
		g.stop(fail(TooManyCalls, "more than %d pieces of streams", maxPieces))
	}
}

// readOp is http.read.
func (g *guest) readOp(a readArgs) (any, *Error) {
	s := g.streams.open[a.Stream]
	switch {
	case s == nil:
		return nil, fail(NotFound, "http.read: no stream %d is open", a.Stream)
	case a.Max < 0:
		return nil, fail(InvalidArgument, "http.read: max is %d", a.Max)
	case a.Max == 0:
		a.Max = defPiece
	}
	var got []byte
	var e *Error
	g.outside(func() { got, e = s.next(min(max(a.Max, minPiece), maxPiece)) })
	if e != nil {
		g.hangUp(a.Stream)
		return nil, e
	}
	out := piece{Done: s.ended && len(s.pending) == 0}
	if utf8.Valid(got) {
		text := string(got)
		out.Body = &text
	} else {
		out.BodyBase64 = base64.StdEncoding.EncodeToString(got)
	}
	if out.Done {
		g.hangUp(a.Stream)
	}
	return out, nil
}

// closeOp is http.close. Closing what is closed is no error.
func (g *guest) closeOp(a readArgs) (any, *Error) {
	if g.streams.open[a.Stream] != nil {
		g.hangUp(a.Stream)
	}
	return none{}, nil
}

// next gives 1 to most bytes, or none at the end. It waits for the next bytes of the body, not for
// most of them.
func (s *stream) next(most int) ([]byte, *Error) {
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

// ready says how many of the pending bytes may be given: not the beginning of what may become a
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
func (s *stream) fill(most int) *Error {
	g := s.t.g
	if s.buffer == nil {
		s.buffer = make([]byte, most)
	}
	late := time.AfterFunc(fetchFor, s.stop)
	n, err := s.body.Read(s.buffer)
	late.Stop()
	if g.streams.bytes += int64(n); g.streams.bytes > maxStreamed {
		return fail(Upstream, "http.read: more than %d bytes in one call", maxStreamed)
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
