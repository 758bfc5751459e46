package sdk

import "io"

// Stream is a response whose body is read in pieces, so that it may be larger than the plugin's
// memory. It belongs to its call.
type Stream struct {
	Status  int
	Headers map[string]string

	call   *Call
	number int
	rest   []byte // received, and not yet returned
	done   bool
}

var _ io.ReadCloser = (*Stream)(nil)

// size of the pieces that a Stream requests, in bytes.
const (
	leastPiece = 4 << 10
	mostPiece  = 1 << 20
)

// Open sends a request and returns its body as it arrives. Close a stream that is not read to its
// end; at most 8 may be open at once. It requires the permission http.
func (c *Call) Open(r Request) (*Stream, error) {
	args := r.args()
	args["stream"] = true
	var out answered
	if err := c.ask("http.fetch", args, &out); err != nil {
		return nil, err
	}
	s := &Stream{Status: out.Status, Headers: out.Headers, call: c, number: out.Stream}
	if out.Stream == 0 { // an older host, which returns the whole body
		s.rest, s.done = out.bytes(), true
	}
	return s, nil
}

// Read returns the bytes that have arrived. At the end the error is io.EOF; other errors are from
// the host, ErrCancelled among them.
func (s *Stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(s.rest) == 0 {
		if s.done {
			return 0, io.EOF
		}
		var piece answered
		args := map[string]any{"stream": s.number, "max": min(max(len(p), leastPiece), mostPiece)}
		if err := s.call.ask("http.read", args, &piece); err != nil {
			s.done = true
			return 0, err
		}
		s.rest, s.done = piece.bytes(), piece.Done
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close discards the rest of the body.
func (s *Stream) Close() error {
	if s.rest = nil; s.done {
		return nil
	}
	s.done = true
	return s.call.ask("http.close", map[string]any{"stream": s.number}, nil)
}
