package sqlite

import (
	"context"
	"database/sql"
	"slices"

	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
)

// nearest returns the chunks whose vectors are nearest to that of the query. Chunks that words
// found are compared, too.
func (s *search) nearest(ctx context.Context, words []location) ([]location, error) {
	query := codes.NewQuery(s.q.Vector)
	candidates := newBest(max(s.q.TopK, codes.LeastCompared))
	for i, p := range s.parts {
		if err := s.q.CheckVector(p.d.key, p.d.dims); err != nil {
			return nil, err
		}
		for k := range p.codes {
			query.Estimate(&p.codes[k], func(local int, similarity float32) {
				if candidates.takes(similarity) && s.found(p, local) {
					candidates.add(location{i, local}, similarity)
				}
			})
		}
		if p.tail == nil {
			continue
		}
		for local, v := range p.tail.vectors {
			if v != nil && s.found(p, local) {
				candidates.add(location{i, local}, codes.Dot(s.q.Vector, v))
			}
		}
	}
	compared := append(candidates.locations(), words...)
	slices.SortFunc(compared, location.compare)
	compared = slices.Compact(compared)
	if err := s.compare(ctx, compared); err != nil {
		return nil, err
	}
	near := newBest(s.q.TopK)
	for _, at := range compared {
		if cosine, ok := s.parts[at.part].cosine[at.local]; ok {
			near.add(at, cosine)
		}
	}
	return near.locations(), nil
}

// compare fills in the cosines of chunks.
func (s *search) compare(ctx context.Context, at []location) error {
	var stored []int64
	place := map[int64]location{}
	for _, l := range at {
		p := s.parts[l.part]
		if p.cosine == nil {
			p.cosine = map[int]float32{}
		}
		switch {
		case p.tail == nil:
			row := p.rows.at(l.local)
			stored = append(stored, row)
			place[row] = l
		case p.tail.vectors[l.local] != nil:
			p.cosine[l.local] = codes.Dot(s.q.Vector, p.tail.vectors[l.local])
		}
	}
	if len(stored) == 0 {
		return nil
	}
	slices.Sort(stored)
	rows, err := s.x.read.QueryContext(ctx,
		`SELECT v.id, v.data FROM json_each(?) j CROSS JOIN vectors v ON v.id = j.value`, jsonList(stored))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var row int64
		var data sql.RawBytes
		if err := rows.Scan(&row, &data); err != nil {
			return err
		}
		if len(data) != 4*len(s.q.Vector) {
			return errCorrupt
		}
		l := place[row]
		s.parts[l.part].cosine[l.local] = codes.DotEncoded(s.q.Vector, data)
	}
	return rows.Err()
}
