package follow

import (
	"sync"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Event is sent to followers, who share it and must not change it.
type Event struct {
	// Document is one that has changed; nil if the event is that no document is under way.
	Document *dataset.Document
	// Dataset is the dataset without documents under way; nil if a document has changed.
	Dataset *dataset.Dataset

	at    place
	look  int  // number of the look that made it
	moved bool // only the position in the queue has changed

	once sync.Once
	text []byte
	err  error
}

// Encoded returns the event as encode makes it. Only the first call of all followers encodes: they
// pass the same function.
func (e *Event) Encoded(encode func(*Event) ([]byte, error)) ([]byte, error) {
	e.once.Do(func() { e.text, e.err = encode(e) })
	return e.text, e.err
}

// size estimates the bytes that the event takes.
func (e *Event) size() int {
	return 2048 + 2*(len(e.Document.Messages)+len(e.Document.Config)) + len(e.Document.Thumbnail)
}

// place is the position of a document in the order of changes.
type place struct {
	seq      int64
	document string
}

func placeOf(c *dataset.Change) place { return place{c.Seq, c.ID} }

// behind returns the place behind all changes with a number.
func behind(seq int64) place { return place{seq: seq + 1} }

// before reports whether p is ahead of another place.
func (p place) before(other place) bool {
	return p.seq < other.seq || p.seq == other.seq && p.document < other.document
}
