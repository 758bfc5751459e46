package engine

import (
	"slices"
	"sync"
)

// notebook buffers log entries of workers until the owner of the run emits them. It is safe for
// concurrent use.
type notebook struct {
	signal chan struct{} // capacity 1: there are notes; nil when nothing is to be noted

	mu     sync.Mutex
	notes  []note
	last   uint64   // number of the last note
	warned []string // texts of warnings

	exchanges int // begun so far
	parts     map[[32]byte]bool
}

// note is one entry of the log.
type note struct {
	number uint64
	typ    EventType
	node   string
	data   Value
}

// logs reports whether entries are logged that are not events of the wire.
func (b *notebook) logs() bool { return b.signal != nil }

func (b *notebook) add(typ EventType, node string, data Value) {
	b.mu.Lock()
	b.last++
	b.notes = append(b.notes, note{b.last, typ, node, data})
	b.mu.Unlock()
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// isNew reports whether a warning is the first with its text; repetitions are dropped.
func (b *notebook) isNew(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.warned, text) {
		return false
	}
	b.warned = append(b.warned, text)
	return true
}

// nextExchange numbers exchanges, from 1.
func nextExchange(b *notebook) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.exchanges++
	return b.exchanges
}

// isNewPart reports whether a part of exchanges is the first with its hash.
func isNewPart(b *notebook, hash [32]byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.parts[hash] {
		return false
	}
	if b.parts == nil {
		b.parts = map[[32]byte]bool{}
	}
	b.parts[hash] = true
	return true
}

// takeNotes returns the notes since the last call.
func (b *notebook) takeNotes() []note {
	b.mu.Lock()
	defer b.mu.Unlock()
	notes := b.notes
	b.notes = nil
	return notes
}

// lastNote returns the number of the last note.
func (b *notebook) lastNote() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}
