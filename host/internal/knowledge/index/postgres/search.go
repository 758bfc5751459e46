package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// search is one query at work in one snapshot.
type search struct {
	pgx.Tx
	ctx      context.Context
	x        *Index
	q        *index.Query
	datasets []*dataset
	only     []int64              // documents that count, ascending; nil means all
	segments map[int64][]*segment // that were read, by their datasets
	shut     map[int64]bool       // documents that the reader may not read
}

// Search implements [index.Index].
func (x *Index) Search(ctx context.Context, q *index.Query) (out *index.Result, err error) {
	if q, err = q.Normal(); err != nil {
		return nil, err
	}
	if len(q.Datasets) == 0 {
		return &index.Result{}, nil
	}
	err = x.snapshot(ctx, func(tx pgx.Tx) error {
		s := &search{Tx: tx, ctx: ctx, x: x, q: q, segments: map[int64][]*segment{}, shut: map[int64]bool{}}
		out, err = s.run()
		return err
	})
	return out, err
}

func (s *search) run() (*index.Result, error) {
	var err error
	if s.datasets, err = readDatasets(s.ctx, s.Tx, s.q.Datasets...); err != nil {
		return nil, err
	}
	if err := s.shutDocuments(); err != nil {
		return nil, err
	}
	if none, err := s.restrict(); err != nil || none {
		return &index.Result{}, err
	}
	found := map[int64]*index.Candidate{}
	if s.q.Text != "" {
		if err := s.words(found); err != nil {
			return nil, fmt.Errorf("index: search words: %w", err)
		}
	}
	if s.q.Vector != nil {
		if err := s.vectors(found); err != nil {
			return nil, fmt.Errorf("index: search vectors: %w", err)
		}
	}
	candidates := make([]index.Candidate, 0, len(found))
	for _, c := range found {
		candidates = append(candidates, *c)
	}
	return index.ReadResult(s.q, index.Rank(s.q, candidates), s.origins, s.chunks)
}

// restrict finds the documents that count; none means that no document does.
func (s *search) restrict() (none bool, err error) {
	if s.q.Documents != nil {
		const known = `SELECT id FROM documents WHERE dataset = ANY($1) AND key = ANY($2) ORDER BY id`
		s.only, err = numbers(s.Query(s.ctx, known, ids(s.datasets), s.q.Documents))
		if err != nil || len(s.only) == 0 {
			return true, err
		}
	}
	fit, all, err := s.q.Filter.Documents(s.documentsByValue)
	if err != nil || all {
		return false, err
	}
	if s.only == nil {
		s.only = fit
	} else {
		s.only = slices.DeleteFunc(s.only, func(id int64) bool {
			_, found := slices.BinarySearch(fit, id)
			return !found
		})
	}
	return len(s.only) == 0, nil
}

// documentsByValue returns the documents that have each value of a metadata key, ascending.
func (s *search) documentsByValue(key string) (map[string][]int64, error) {
	rows, err := s.Query(s.ctx, `SELECT value, document FROM metadata WHERE dataset = ANY($1) AND key = $2
		ORDER BY document`, ids(s.datasets), storable(key))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values, err := index.ReadValues(rows)
	for value, documents := range values {
		documents = slices.DeleteFunc(documents, func(id int64) bool { return s.shut[id] })
		if values[value] = documents; len(documents) == 0 {
			delete(values, value)
		}
	}
	return values, err
}

func numbers(rows pgx.Rows, err error) ([]int64, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// counts reports whether a chunk of a document may be a hit.
func (s *search) counts(document int64, enabled bool) bool {
	if !enabled && !s.q.Hidden {
		return false
	}
	if s.only == nil {
		return true
	}
	_, found := slices.BinarySearch(s.only, document)
	return found
}

// rawBytes is a column that is read where it lies and must not be kept.
type rawBytes []byte

// ScanBytes implements pgtype.BytesScanner.
func (b *rawBytes) ScanBytes(v []byte) error { *b = v; return nil }
