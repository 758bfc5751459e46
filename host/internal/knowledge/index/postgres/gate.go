package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/easel-canvas/easel/host/internal/access"
)

// shutDocuments finds the documents that the gates of the query do not open.
func (s *search) shutDocuments() error {
	for _, d := range s.datasets {
		gate, gated := s.q.Gates[d.key]
		if !gated {
			continue
		}
		const byList = `SELECT access, array_agg(id) FROM documents WHERE dataset = $1 GROUP BY access`
		rows, err := s.Query(s.ctx, byList, d.id)
		if err != nil {
			return err
		}
		var list string
		var documents []int64
		_, err = pgx.ForEachRow(rows, []any{&list, &documents}, func() error {
			if gate.Open(access.List(list)) {
				return nil
			}
			for _, id := range documents {
				s.shut[id] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// gate makes the chunks of shut documents dead in the segments of a dataset, and takes them out of
// its counts. Other searches have segments and datasets that they read themselves.
func (s *search) gate(d *dataset, segments []*segment) {
	if _, gated := s.q.Gates[d.key]; !gated {
		return
	}
	for _, seg := range segments {
		for local, document := range seg.Docs {
			if !s.shut[document] || seg.dead.has(local) {
				continue
			}
			if seg.dead == nil {
				seg.dead = make(marks, seg.size)
			}
			seg.dead[local] = true
			d.chunks--
			d.words -= int64(seg.Lengths[local])
		}
	}
}
