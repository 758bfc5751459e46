package ingest

import (
	"bytes"
	"errors"
	"io"
)

// mostCollected is the size up to which a chunk file is collected before it is stored, in bytes.
const mostCollected = 1 << 20

// spill is a writer of a file. It collects a small one, which is stored by close; a large one goes
// through a pipe while it is written. For a small one, a pipe would cost more than the file.
type spill struct {
	put  func(io.Reader) error // stores a file
	data []byte                // of a small file
	pipe *io.PipeWriter        // of a large one
	done chan error            // result of put
}

// Write implements io.Writer.
func (s *spill) Write(b []byte) (int, error) {
	if s.pipe == nil && len(s.data)+len(b) <= mostCollected {
		s.data = append(s.data, b...)
		return len(b), nil
	}
	if s.pipe == nil {
		s.open()
	}
	return s.pipe.Write(b)
}

// open begins to store the collected chunks.
func (s *spill) open() {
	r, w := io.Pipe()
	whole := io.MultiReader(bytes.NewReader(s.data), r)
	s.pipe, s.done, s.data = w, make(chan error, 1), nil
	go func() {
		err := s.put(whole)
		r.CloseWithError(err) // ends the other side when put has failed
		s.done <- err
	}()
}

// close stores the file, unless writing it has failed, and returns why it is not stored.
func (s *spill) close(failed error) error {
	if s.pipe == nil {
		if failed != nil {
			return failed
		}
		return s.put(bytes.NewReader(s.data))
	}
	s.pipe.CloseWithError(failed)
	err := <-s.done
	if failed != nil && errors.Is(err, failed) {
		return failed // the object store only passes it on
	}
	return err
}
