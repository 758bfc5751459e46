package cli

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/easel-canvas/easel/plugins/contract"
)

// printableWriter writes text as [contract.Printable] returns it: what models, plugins, documents
// and other hosts wrote does not control the terminal or the log that reads it. A character that a
// write leaves incomplete waits for the next one. It is safe for concurrent use.
type printableWriter struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte // the beginning of a character, or a \r that may belong to a line break
}

// Write writes p, and reports its length when all that is complete was written.
func (w *printableWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.rest, p...)
	end := complete(text)
	w.rest = bytes.Clone(text[end:])
	if end == 0 {
		return len(p), nil
	}
	if _, err := io.WriteString(w.to, contract.Printable(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// complete returns the length of text without an incomplete character or a \r at its end.
func complete(text []byte) int {
	n := len(text)
	if n > 0 && text[n-1] == '\r' {
		return n - 1
	}
	for back := 1; back < utf8.UTFMax && back <= n; back++ {
		if utf8.RuneStart(text[n-back]) {
			if !utf8.FullRune(text[n-back:]) {
				return n - back
			}
			break
		}
	}
	return n
}
