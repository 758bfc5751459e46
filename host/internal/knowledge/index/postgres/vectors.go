package postgres

import (
	"cmp"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
)

// vectors adds the nearest chunks to found, and the cosines of those that are there already.
func (s *search) vectors(found map[int64]*index.Candidate) error {
	near, err := s.nearest()
	if err != nil {
		return err
	}
	compared := make(map[int64]index.Candidate, len(near)+len(found))
	for _, c := range near {
		compared[c.key] = index.Candidate{Key: c.key, Document: c.document}
	}
	for key, c := range found {
		compared[key] = *c
	}
	list, err := s.compare(compared)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b index.Candidate) int {
		return cmp.Or(cmp.Compare(b.Vector, a.Vector), cmp.Compare(a.Key, b.Key))
	})
	for i := range list {
		if i < s.q.TopK || found[list[i].Key] != nil {
			found[list[i].Key] = &list[i]
		}
	}
	return nil
}

// nearest returns the chunks that are nearest by their codes.
func (s *search) nearest() ([]scored, error) {
	query, best := codes.NewQuery(s.q.Vector), newBest(max(s.q.TopK, codes.LeastCompared))
	for _, d := range s.datasets {
		if err := s.q.CheckVector(d.key, d.dims); err != nil {
			return nil, err
		}
		segments, err := s.segmentsOf(d)
		if err != nil {
			return nil, err
		}
		groups, err := s.x.segmentCodes(s.ctx, s.Tx, d, segments)
		if err != nil {
			return nil, err
		}
		for _, seg := range segments {
			for i := range groups[seg.id] {
				query.Estimate(&groups[seg.id][i], func(local int, similarity float32) {
					if best.takes(float64(similarity)) && s.hit(seg, local) {
						best.add(scored{seg.Rows[local], seg.Docs[local], float64(similarity)})
					}
				})
			}
		}
	}
	return best.cut(), nil
}

// segmentsOf returns the segments of a dataset.
func (s *search) segmentsOf(d *dataset) ([]*segment, error) {
	if list, ok := s.segments[d.id]; ok {
		return list, nil
	}
	rows, err := s.Query(s.ctx, `SELECT `+segmentColumns+` FROM segments WHERE dataset = $1 ORDER BY first`, d.id)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[segmentRow])
	if err != nil {
		return nil, err
	}
	s.segments[d.id], err = s.x.segments(s.ctx, s.Tx, list)
	s.gate(d, s.segments[d.id])
	return s.segments[d.id], err
}

// compare returns chunks with the cosines of their vectors; those without a vector are left out.
func (s *search) compare(chunks map[int64]index.Candidate) ([]index.Candidate, error) {
	keys := slices.Sorted(maps.Keys(chunks))
	out := make([]index.Candidate, 0, len(keys))
	var key int64
	add := func(cosine float64) {
		c := chunks[key]
		c.Vector = cosine
		out = append(out, c)
	}
	if s.x.pgvector {
		rows, err := s.Query(s.ctx, `SELECT chunk, -(vector <#> $1::text::vector) FROM vectors WHERE chunk = ANY($2)`,
			s.x.parameter(s.q.Vector), keys)
		if err != nil {
			return nil, err
		}
		var cosine float64
		_, err = pgx.ForEachRow(rows, []any{&key, &cosine}, func() error { add(cosine); return nil })
		return out, err
	}
	rows, err := s.Query(s.ctx, `SELECT chunk, vector FROM vectors WHERE chunk = ANY($1)`, keys)
	if err != nil {
		return nil, err
	}
	var data []byte
	_, err = pgx.ForEachRow(rows, []any{&key, (*rawBytes)(&data)}, func() error {
		if len(data) != 4*len(s.q.Vector) {
			return errDamaged
		}
		add(float64(codes.DotEncoded(s.q.Vector, data)))
		return nil
	})
	return out, err
}

// leastGroup is the minimum size of a group of codes that a merge keeps, in chunks. Its middle
// takes as much memory as the codes of 32 chunks.
const leastGroup = 512

// keepCodes adds the codes of a segment that need not be made again.
func (a *added) keepCodes(groups []codes.Group, dims int, renumbered []int) {
	for i := range groups {
		g := groups[i].Keep(dims, func(local int) bool { return renumbered[local] >= 0 })
		if g.Len() < leastGroup {
			continue
		}
		from := renumbered[groups[i].First:]
		g.First = from[slices.IndexFunc(from, func(local int) bool { return local >= 0 })]
		a.codes = append(a.codes, g)
	}
}

// encodeRest makes the codes of the chunks that have none.
func (c *change) encodeRest(a *added) error {
	if c.d.dims == 0 {
		return nil
	}
	var all []codes.Group
	next := 0
	for _, g := range append(a.codes, codes.Group{First: len(a.Rows)}) {
		for ; next < g.First; next = min(next+segmentChunks, g.First) {
			more, err := c.encode(a.Rows[next:min(next+segmentChunks, g.First)])
			if err != nil {
				return err
			}
			for i := range more {
				more[i].First += next
			}
			all = append(all, more...)
		}
		if g.Len() > 0 {
			all = append(all, g)
		}
		next = g.First + g.Len()
	}
	a.codes = all
	return nil
}

// encode makes the codes of chunks from their vectors.
func (c *change) encode(chunks []int64) ([]codes.Group, error) {
	vectors := make([][]float32, len(chunks))
	column := "vector"
	if c.x.pgvector {
		column = "vector::real[]"
	}
	rows, err := c.Query(c.ctx, `SELECT chunk, `+column+` FROM vectors WHERE chunk = ANY($1)`, chunks)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var chunk int64
		var v []float32
		var data []byte
		if c.x.pgvector {
			err = rows.Scan(&chunk, &v)
		} else if err = rows.Scan(&chunk, (*rawBytes)(&data)); err == nil {
			v = codes.DecodeVector(data)
		}
		if err != nil {
			return nil, err
		}
		local, ok := slices.BinarySearch(chunks, chunk)
		if !ok || len(v) != c.d.dims {
			return nil, errDamaged
		}
		vectors[local] = v
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return codes.Encode(vectors, c.d.dims), nil
}
