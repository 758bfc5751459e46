package opensearch

import (
	"encoding/json"
	"slices"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// result ranks the candidates and reads the chunks of the page.
func (s *search) result() (*index.Result, error) {
	list := make([]*candidate, 0, len(s.found))
	for _, c := range s.found {
		list = append(list, c)
	}
	slices.SortFunc(list, (*candidate).compare)
	numbered := make([]index.Candidate, len(list))
	numbers := map[rowKey]int64{}
	var documents []rowKey
	for i, c := range list {
		key := rowKey{c.dataset, c.Document}
		if _, known := numbers[key]; !known {
			numbers[key] = int64(len(documents))
			documents = append(documents, key)
		}
		numbered[i] = index.Candidate{Key: int64(i), Document: numbers[key], Term: c.term, Vector: c.vector}
	}
	return index.ReadResult(s.q, index.Rank(s.q, numbered),
		func(wanted []int64) (map[int64]index.Origin, error) { return s.origins(documents, wanted) },
		func(wanted []int64) (map[int64]index.Chunk, error) { return s.chunks(list, wanted) })
}

// origins reads the documents of hits by their places in a list.
func (s *search) origins(list []rowKey, wanted []int64) (map[int64]index.Origin, error) {
	rows := make(map[rowKey]int64, len(wanted))
	for _, at := range wanted {
		rows[rowKey{list[at].dataset, documentID(list[at].id)}] = at
	}
	out := make(map[int64]index.Origin, len(wanted))
	err := s.read(rows, func(at int64, source json.RawMessage) error {
		var row documentRow
		if err := json.Unmarshal(source, &row); err != nil {
			return err
		}
		d := s.datasets[list[at].dataset]
		out[at] = index.Origin{
			Dataset: d.key, Document: list[at].id, Name: row.Body.Name, Meta: row.Body.Meta,
			Language: d.settings.Settings,
		}
		return nil
	})
	return out, err
}

// chunks reads the chunks of a page by their places in a list.
func (s *search) chunks(list []*candidate, wanted []int64) (map[int64]index.Chunk, error) {
	rows := make(map[rowKey]int64, len(wanted))
	for _, at := range wanted {
		rows[list[at].rowKey] = at
	}
	out := make(map[int64]index.Chunk, len(wanted))
	err := s.read(rows, func(at int64, source json.RawMessage) error {
		var row chunkRow
		err := json.Unmarshal(source, &row)
		out[at] = row.chunk()
		return err
	})
	return out, err
}

// read reads rows, as searches see them, and passes the number of each with it.
func (s *search) read(wanted map[rowKey]int64, f func(number int64, source json.RawMessage) error) error {
	for at, d := range s.datasets {
		var ids []string
		for key := range wanted {
			if key.dataset == at {
				ids = append(ids, key.id)
			}
		}
		for part := range slices.Chunk(ids, perQuery) {
			r, err := s.query(s.ctx, d, object{
				"size": len(part), "query": object{"ids": object{"values": part}},
				"_source": object{"excludes": []string{"vector", "terms", "counts"}},
			})
			if err != nil {
				return index.DatasetError(d.key, err)
			}
			if len(r.Hits.Hits) < len(part) {
				return errMoved
			}
			for _, h := range r.Hits.Hits {
				if err := f(wanted[rowKey{at, h.ID}], h.Source); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
