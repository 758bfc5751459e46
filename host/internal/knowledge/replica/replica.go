// Package replica keeps an index in step with the records of datasets.
//
// Records and chunk files are shared by all hosts; the index is made from them, and is of one host
// or of all. Every change of a document counts up the dataset's sequence number, and [Replica.Sync]
// applies the changes since the last one before a search or a list reads the index. So a reader on
// any host finds all earlier writes, a document's chunks change in one step, and an index that is
// lost or behind is rebuilt without the writer.
//
// Hosts that share an index take turns for each dataset, and leave out the documents that another
// one has applied: the index has their versions.
package replica

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Config configures a Replica. All but Lost are required.
type Config struct {
	Store  *store.Store
	Files  *blobs.Store
	Index  index.Index
	Logger *slog.Logger
	// Lost is called for a document whose chunk file is missing or damaged; nil only logs it.
	Lost func(ctx context.Context, d *store.Document) error
}

// Replica keeps an index in step. It is safe for concurrent use.
type Replica struct {
	cfg    Config
	shared index.Shared // nil when the index is of this host alone

	mu     sync.Mutex
	states map[string]*state // by dataset
	epoch  *string           // of the records; nil before the first Sync
	fresh  map[string][]byte // chunk files by name, see Offer
}

// New makes a replica.
func New(cfg Config) *Replica {
	r := &Replica{cfg: cfg, states: map[string]*state{}, fresh: map[string][]byte{}}
	r.shared, _ = cfg.Index.(index.Shared)
	return r
}

// Index returns the index that is kept in step.
func (r *Replica) Index() index.Index { return r.cfg.Index }

// Sync applies all changes of a dataset that were committed before the call. On a full disk it
// applies deletions only; see [Synced.Behind]. Errors: [store.ErrNotFound].
func (r *Replica) Sync(ctx context.Context, dataset string) (*Synced, error) {
	d, err := r.cfg.Store.Datasets.Any(ctx, dataset)
	if err != nil {
		return nil, err
	}
	epoch, err := r.readEpoch(ctx)
	if err != nil {
		return nil, err
	}
	s := r.state(dataset)
	key := keyOf(&d, epoch)
	now := s.get()
	if now.key == key && now.applied >= d.Seq {
		return &Synced{Key: key, Dataset: d}, nil
	}
	if now.key == "" || now.key == key {
		s.applying.Lock()
	} else if !s.applying.TryLock() {
		// Another call indexes all chunks again; the former ones answer until it is done.
		return now.synced(d, nil), nil
	}
	defer s.applying.Unlock()
	now = s.get()
	if now.waits(&d, time.Now()) {
		return now.synced(d, now.full), nil
	}
	if err := r.apply(ctx, s, key, &d); err != nil {
		err = fmt.Errorf("dataset %q: update index: %w", dataset, err)
		if !isFull(err) {
			return nil, err
		}
		return r.behind(s, &d, err)
	}
	return &Synced{Key: key, Dataset: d}, nil
}

// readEpoch returns the epoch of the records, which does not change while hosts work on them.
func (r *Replica) readEpoch(ctx context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.epoch == nil {
		epoch, err := r.cfg.Store.Datasets.Epoch(ctx)
		if err != nil {
			return "", err
		}
		r.epoch = &epoch
	}
	return *r.epoch, nil
}

func (r *Replica) state(dataset string) *state {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.states[dataset]
	if s == nil {
		s = &state{}
		r.states[dataset] = s
	}
	return s
}

// keyOf returns the key of a dataset in the index. It changes when all chunks must be indexed
// again.
func keyOf(d *store.Dataset, epoch string) string {
	text, err := json.Marshal([]any{settings(d), d.Model, epoch})
	if err != nil {
		panic(err) // numbers and strings always can be encoded
	}
	sum := sha256.Sum256(text)
	return prefix(d.Tenant, d.ID) + hex.EncodeToString(sum[:6])
}

func prefix(tenant, dataset string) string { return tenant + "/" + dataset + "/" }

// settings returns the settings of a dataset in the index.
func settings(d *store.Dataset) index.Settings {
	var s index.Settings
	if language := strings.ToLower(d.Language); slices.Contains(terms.Languages(), language) {
		s.Language = language
	}
	return s.Normal()
}

// apply brings the index up to d, with deletions first.
func (r *Replica) apply(ctx context.Context, s *state, key string, d *store.Dataset) error {
	now := s.get()
	switch {
	case now.key == key && now.applied >= d.Seq:
		return nil // done by a concurrent call
	case r.shared != nil:
		release, err := r.shared.Lock(ctx, prefix(d.Tenant, d.ID))
		if err != nil {
			return err
		}
		defer release()
	}
	update := func() error { return r.follow(ctx, key, d, now.applied) }
	if now.key != key || now.applied < d.GoneSeq {
		if err := r.cfg.Index.Create(ctx, key, settings(d)); err != nil {
			return err
		}
		have, want, err := r.deleteGone(ctx, key, d)
		if err != nil {
			return err
		}
		update = func() error { return r.add(ctx, key, d, have, want) }
	}
	s.deleted(key, d)
	if r.shared == nil {
		if err := r.cfg.Store.Full(ctx); err != nil {
			return err
		}
	}
	if err := update(); err != nil {
		return err
	}
	s.set(key, d)
	if now.key != key && r.shared == nil {
		return r.dropOthers(ctx, d, key) // Prune does it when other hosts may be reading them
	}
	return nil
}

// followed is the number of changed documents that are read at once.
const followed = 100

// follow applies the documents that changed after a sequence number.
func (r *Replica) follow(ctx context.Context, key string, d *store.Dataset, applied int64) error {
	b := batch{r: r, key: key, ds: d}
	for after := applied; after < d.Seq; {
		list, err := r.cfg.Store.Documents.Changed(ctx, d.ID, after, followed)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			break
		}
		have, err := r.versions(ctx, key, list)
		if err != nil {
			return err
		}
		for i := range list {
			version := applied
			if r.shared != nil {
				version = have[list[i].ID]
			}
			if version >= list[i].Seq {
				continue // by another host
			}
			if err := b.add(ctx, &list[i], version); err != nil {
				return err
			}
		}
		after = list[len(list)-1].Seq
	}
	return b.flush(ctx)
}

// versions returns the versions of documents in an index that other hosts also change, or nil.
func (r *Replica) versions(ctx context.Context, key string, list []store.Document) (map[string]int64, error) {
	if r.shared == nil {
		return nil, nil
	}
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return r.cfg.Index.Versions(ctx, key, ids...)
}

// deleteGone removes documents from the index that are not in the records. It returns the versions
// of all that the index had and should have.
func (r *Replica) deleteGone(
	ctx context.Context, key string, d *store.Dataset,
) (have, want map[string]int64, err error) {
	if have, err = r.cfg.Index.Versions(ctx, key); err != nil {
		return nil, nil, err
	}
	if want, err = r.cfg.Store.Documents.Seqs(ctx, d.ID); err != nil {
		return nil, nil, err
	}
	var gone []string
	for id := range have {
		if _, ok := want[id]; !ok {
			gone = append(gone, id)
		}
	}
	if len(gone) > 0 {
		err = r.always(func() error { return r.cfg.Index.Delete(ctx, key, gone...) })
	}
	return have, want, err
}

// add brings the documents of the index up to the versions that it should have.
func (r *Replica) add(ctx context.Context, key string, d *store.Dataset, have, want map[string]int64) error {
	b := batch{r: r, key: key, ds: d}
	for id, seq := range want {
		version, known := have[id]
		if known && version >= seq {
			continue
		}
		doc, err := r.cfg.Store.Documents.Of(ctx, d.ID, id)
		if errors.Is(err, store.ErrNotFound) {
			continue // deleted concurrently; the next Sync sees it
		}
		if err == nil {
			err = b.add(ctx, &doc, version)
		}
		if err != nil {
			return err
		}
	}
	return b.flush(ctx)
}

// dropOthers removes a dataset from the index under all but one of its keys.
func (r *Replica) dropOthers(ctx context.Context, d *store.Dataset, but string) error {
	keys, err := r.cfg.Index.Datasets(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if key != but && strings.HasPrefix(key, prefix(d.Tenant, d.ID)) {
			if err := r.always(func() error { return r.cfg.Index.Drop(ctx, key) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// Prune removes datasets from the index that have no record any more, and those in a shared index
// under former keys.
func (r *Replica) Prune(ctx context.Context) error {
	keys, err := r.cfg.Index.Datasets(ctx) // before the records: a key is younger than its record
	if err != nil {
		return err
	}
	ids, err := r.cfg.Store.Datasets.IDs(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, id := range ids {
		known[id] = true
	}
	for _, key := range keys {
		_, rest, _ := strings.Cut(key, "/")
		id, _, _ := strings.Cut(rest, "/")
		if known[id] {
			if err := r.dropOld(ctx, key, id); err != nil {
				return err
			}
			continue
		}
		if err := r.always(func() error { return r.cfg.Index.Drop(ctx, key) }); err != nil {
			return err
		}
		r.mu.Lock()
		delete(r.states, id)
		r.mu.Unlock()
	}
	return nil
}

// dropOld removes a dataset from a shared index under a former key.
func (r *Replica) dropOld(ctx context.Context, key, dataset string) error {
	if r.shared == nil {
		return nil
	}
	d, err := r.cfg.Store.Datasets.Any(ctx, dataset)
	if errors.Is(err, store.ErrNotFound) {
		return nil // the next Prune removes it
	}
	if err != nil {
		return err
	}
	epoch, err := r.readEpoch(ctx)
	if err != nil || key == keyOf(&d, epoch) {
		return err
	}
	return r.cfg.Index.Drop(ctx, key)
}
