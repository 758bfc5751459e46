package runlog

import "sync"

// tailMost bounds the bytes of stored records that a lease keeps for readers
// on its own host; readers further behind read the stream.
const tailMost = 128 << 10

// tail is the end of a run in the memory of its owner. Readers wait on a
// channel of their own, of size one, which is rung and never blocks the owner.
type tail struct {
	mu      sync.Mutex
	base    uint64   // number of the first record that is, or will be, here
	records []Record // without gaps; the last ones of the run
	size    int
	end     bool // the run has ended with the last record
	closed  bool // nothing more comes from here
	bells   map[chan struct{}]bool
}

// add appends records and drops old ones that are stored for sure: each append
// stores all that was buffered before it, and the buffer is bounded by maxBuffered.
func (t *tail) add(records []Record, end bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range records {
		t.size += len(r.Data) + 64
	}
	t.records = append(t.records, records...)
	t.end = t.end || end
	if t.size > 2*tailMost {
		t.trim()
	}
	t.ring()
}

// trim drops the older half, so that it is rare.
func (t *tail) trim() {
	drop := 0
	for t.size > tailMost && drop < len(t.records)-1 {
		t.size -= len(t.records[drop].Data) + 64
		drop++
	}
	t.records = append([]Record(nil), t.records[drop:]...)
	t.base = t.records[0].Seq
}

func (t *tail) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.ring()
}

func (t *tail) ring() {
	for bell := range t.bells {
		select {
		case bell <- struct{}{}:
		default:
		}
	}
}

func (t *tail) listen() chan struct{} {
	bell := make(chan struct{}, 1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bells == nil {
		t.bells = map[chan struct{}]bool{}
	}
	t.bells[bell] = true
	return bell
}

func (t *tail) unlisten(bell chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.bells, bell)
}

// after are the records with a number above seq. ok is false when the first of
// them is no longer, or not yet, known here.
func (t *tail) after(seq uint64) (records []Record, end, closed, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seq+1 < t.base {
		return nil, false, t.closed, false
	}
	skip := min(seq+1-t.base, uint64(len(t.records)))
	return t.records[skip:len(t.records):len(t.records)], t.end, t.closed, true
}
