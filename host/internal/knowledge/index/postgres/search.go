package postgres

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
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
	only     []int64 // documents that count, ascending; nil means all
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
		s := &search{Tx: tx, ctx: ctx, x: x, q: q}
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

// restrict finds the documents that count. none means that there are none.
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

// documentsByValue are the documents that have each value of a metadata key, ascending.
func (s *search) documentsByValue(key string) (map[string][]int64, error) {
	rows, err := s.Query(s.ctx, `SELECT value, document FROM metadata WHERE dataset = ANY($1) AND key = $2
		ORDER BY document`, ids(s.datasets), storable(key))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return index.ReadValues(rows)
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

// vectors adds the nearest chunks to found, and the cosines of those that are there already.
func (s *search) vectors(found map[int64]*index.Candidate) error {
	for _, d := range s.datasets {
		if err := s.q.CheckVector(d.key, d.dims); err != nil {
			return err
		}
	}
	near := s.nearestHere
	if s.x.pgvector {
		near = s.nearestThere
	}
	list, err := near(found)
	if err != nil {
		return err
	}
	for i := range list {
		if c := found[list[i].Key]; c != nil {
			c.Vector = list[i].Vector
		} else {
			found[list[i].Key] = &list[i]
		}
	}
	return nil
}

// nearestThere has pgvector compare.
func (s *search) nearestThere(found map[int64]*index.Candidate) ([]index.Candidate, error) {
	known := make([]int64, 0, len(found))
	for id := range found {
		known = append(known, id)
	}
	rows, err := s.Query(s.ctx, `(SELECT chunk, document, -(vector <#> $1::text::vector) FROM vectors
			WHERE dataset = ANY($2) AND (enabled OR $3) AND ($4::bigint[] IS NULL OR document = ANY($4))
			ORDER BY vector <#> $1::text::vector, chunk LIMIT $5)
		UNION SELECT chunk, document, -(vector <#> $1::text::vector) FROM vectors WHERE chunk = ANY($6)`,
		s.x.parameter(s.q.Vector), ids(s.datasets), s.q.Hidden, s.only, s.q.TopK, known)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c index.Candidate, err error) {
		err = row.Scan(&c.Key, &c.Document, &c.Vector)
		return c, err
	})
}

// nearestHere reads and compares all vectors.
func (s *search) nearestHere(found map[int64]*index.Candidate) (out []index.Candidate, err error) {
	rows, err := s.Query(s.ctx, `SELECT chunk, document, vector FROM vectors
		WHERE dataset = ANY($1) AND (enabled OR $2) AND ($3::bigint[] IS NULL OR document = ANY($3))`,
		ids(s.datasets), s.q.Hidden, s.only)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var data []byte
	for rows.Next() {
		var c index.Candidate
		if err := rows.Scan(&c.Key, &c.Document, (*rawBytes)(&data)); err != nil {
			return nil, err
		}
		c.Vector = dot(s.q.Vector, data)
		out = append(out, c)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b index.Candidate) int {
		return cmp.Or(cmp.Compare(b.Vector, a.Vector), cmp.Compare(a.Key, b.Key))
	})
	n := 0
	for i, c := range out {
		if i < s.q.TopK || found[c.Key] != nil {
			out[n] = c
			n++
		}
	}
	return out[:n], nil
}

// rawBytes is a column that is read where it lies and must not be kept.
type rawBytes []byte

// ScanBytes implements pgtype.BytesScanner.
func (b *rawBytes) ScanBytes(v []byte) error { *b = v; return nil }

// dot is the product of a vector and an encoded one.
func dot(v []float32, data []byte) float64 {
	var sum float32
	for i := range min(len(v), len(data)/4) {
		sum += v[i] * math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return float64(sum)
}
