package replica

import (
	"errors"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Synced is a dataset whose changes are in the index.
type Synced struct {
	// Key of the dataset in the index, "" if the index does not have it yet.
	Key string
	// Behind is the error of a full disk that keeps changes from the index, nil if it has all. It
	// never has documents that were deleted.
	Behind error
	store.Dataset
}

// retryFull is the time after which changes that met a full disk are tried again.
const retryFull = 2 * time.Second

// state tracks the index of a dataset.
type state struct {
	applying sync.Mutex // held while changes are applied

	mu  sync.Mutex
	now contents
}

// contents describes a dataset in the index.
type contents struct {
	key     string // of the dataset in the index; "" before the first Sync
	applied int64  // sequence number up to which changes are in the index
	answers answers

	full  error // of the disk that took no more changes; nil if all were applied
	tried time.Time
}

// answers describes the chunks that are searched while changes are not applied.
type answers struct {
	key   string // "" without any
	model string // of the vectors
	gone  int64  // sequence number up to which deletions are in the index
}

func (s *state) get() contents {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// set notes that all changes were applied.
func (s *state) set(key string, d *store.Dataset) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = contents{key: key, applied: d.Seq, answers: answers{key, d.Model, d.GoneSeq}}
}

// deleted notes that all deletions were applied. The index under another key is more complete, and
// answers until all changes are applied.
func (s *state) deleted(key string, d *store.Dataset) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.key == "" || s.now.key == key {
		s.now.answers = answers{key, d.Model, d.GoneSeq}
	}
}

// waits reports whether changes that met a full disk are not to be tried again yet.
func (v *contents) waits(d *store.Dataset, now time.Time) bool {
	return v.full != nil && v.answers.gone >= d.GoneSeq && now.Sub(v.tried) < retryFull
}

// synced returns a dataset with the part of the index that answers for it.
func (v *contents) synced(d store.Dataset, behind error) *Synced {
	if v.answers.key != "" {
		d.Model = v.answers.model
	}
	return &Synced{Key: v.answers.key, Behind: behind, Dataset: d}
}

// behind returns the indexed part of a dataset whose changes met a full disk. It is an error if
// that includes deleted documents.
func (r *Replica) behind(s *state, d *store.Dataset, err error) (*Synced, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.full == nil {
		r.cfg.Logger.Warn("index takes no changes; searches answer from what it has", "dataset", d.ID, "err", err)
	}
	s.now.full, s.now.tried = err, time.Now()
	if s.now.answers.key != "" && s.now.answers.gone < d.GoneSeq {
		return nil, err
	}
	return s.now.synced(*d, err), nil
}

// isFull reports whether err comes from a full or read-only disk.
func isFull(err error) bool {
	for _, full := range []error{index.ErrFull, store.ErrFull, store.ErrReadOnly, broker.ErrFull} {
		if errors.Is(err, full) {
			return true
		}
	}
	return false
}

// always repeats a deletion that a full disk refused, when there is space for it.
func (r *Replica) always(op func() error) error {
	err := op()
	if errors.Is(err, index.ErrFull) && r.shared == nil && r.cfg.Store.MakeRoom() {
		err = op()
	}
	return err
}
