package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"unicode"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postings"
	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
)

var _ index.Corrector = (*Index)(nil)

// mostCorrected bounds how many words of a question are corrected.
const mostCorrected = 4

// Correct implements [index.Corrector]. Datasets have one language in practice; that of the first
// counts.
func (x *Index) Correct(ctx context.Context, q *index.Query) (string, error) {
	question := q.Text
	if len(q.Datasets) == 0 {
		return "", nil
	}
	s, release, err := x.begin(ctx, q)
	if err != nil || s == nil {
		return "", err
	}
	defer release()
	a, err := terms.New(s.datasets[0].settings.Settings)
	if err != nil {
		return "", err
	}
	unknown, err := s.unknown(ctx, a.Append(nil, question))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	end := 0
	for _, t := range unknown[:min(len(unknown), mostCorrected)] {
		word, err := s.nearestWord(ctx, a, t.Text)
		if err != nil {
			return "", err
		}
		if word == "" {
			continue
		}
		out.WriteString(question[end:t.Start])
		out.WriteString(word)
		end = t.End
	}
	if end == 0 {
		return "", nil
	}
	return out.String() + question[end:], nil
}

// unknown returns the terms that may be corrected and that no live chunk has.
func (s *search) unknown(ctx context.Context, all []terms.Term) (out []terms.Term, err error) {
	counts := map[string]int{}
	for _, t := range all {
		if !t.Stop && !t.Single && index.Correctable(t.Text) > 0 && !strings.ContainsFunc(t.Text, notLetter) {
			counts[t.Text]++
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	for _, d := range s.datasets {
		lists, err := s.lists(ctx, d, counts)
		if err != nil {
			return nil, err
		}
		for at, data := range lists {
			n, err := s.parts[at.part].holding(data)
			if err != nil {
				return nil, err
			}
			if n > 0 {
				delete(counts, at.term)
			}
		}
	}
	return slices.DeleteFunc(out, func(t terms.Term) bool { return counts[t.Text] == 0 }), nil
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }

// nearestWord returns the nearest word for a term: as a chunk has it, with its ending.
func (s *search) nearestWord(ctx context.Context, a *terms.Analyzer, term string) (string, error) {
	// Words of chunks that the reader may not read are not offered: they would hide others.
	offer := nearestOffer
	if len(s.q.Gates) > 0 {
		offer = s.offerSeen
	}
	// Most mistakes leave the first letter: its terms are next to each other in the file.
	first, size := string([]rune(term)[:1]), 0
	for _, r := range term {
		size += len(string(r))
	}
	nearest := index.NewNearest(term)
	for _, span := range [][2]string{{first, first + "\U0010ffff"}, {"", "\U0010ffff"}} {
		if err := s.vocabulary(ctx, span, size, nearest, offer); err != nil {
			return "", err
		}
		if nearest.Best() != "" {
			return s.asWritten(ctx, a, nearest.Best())
		}
	}
	return "", nil
}

// vocabulary offers the terms of all parts in a range, about as long as size bytes.
func (s *search) vocabulary(
	ctx context.Context, span [2]string, size int, nearest *index.Nearest, offer offer,
) error {
	var ids []int64
	parts := map[int64]*part{}
	for _, p := range s.parts {
		if p.tail == nil {
			ids = append(ids, p.id)
			parts[p.id] = p
			continue
		}
		for term, list := range p.tail.postings {
			if term >= span[0] && term < span[1] {
				if err := offer(p, nearest, term, len(list.Data), list.Data); err != nil {
					return err
				}
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	const slack = 8 // bytes of two characters
	data := `x''`
	if len(s.q.Gates) > 0 {
		data = `p.data`
	}
	rows, err := s.x.read.QueryContext(ctx, `SELECT p.segment, p.term, length(p.data), `+data+` FROM json_each(?) s
		CROSS JOIN postings p ON p.segment = s.value AND p.term >= ? AND p.term < ?
		WHERE octet_length(p.term) BETWEEN ? AND ?`, jsonList(ids), span[0], span[1], size-slack, size+slack)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var term string
		var weight int
		var data sql.RawBytes
		if err := rows.Scan(&id, &term, &weight, &data); err != nil {
			return err
		}
		if err := offer(parts[id], nearest, term, weight, data); err != nil {
			return err
		}
	}
	return rows.Err()
}

// offer offers a term of a part with its postings to a search for a correction.
type offer func(p *part, nearest *index.Nearest, term string, weight int, data []byte) error

func nearestOffer(_ *part, nearest *index.Nearest, term string, weight int, _ []byte) error {
	nearest.Add(term, weight)
	return nil
}

// offerSeen offers a term that a live chunk of the part has.
func (s *search) offerSeen(p *part, nearest *index.Nearest, term string, weight int, data []byte) error {
	if !nearest.Near(term) {
		return nil // its postings are not read
	}
	n, err := p.holding(data)
	if n > 0 {
		nearest.Add(term, weight)
	}
	return err
}

// asWritten returns a word of a live chunk that has a term: the index has terms without endings.
func (s *search) asWritten(ctx context.Context, a *terms.Analyzer, term string) (string, error) {
	for _, d := range s.datasets {
		lists, err := s.lists(ctx, d, map[string]int{term: 1})
		if err != nil {
			return "", err
		}
		for at, data := range lists {
			word, err := s.wordIn(ctx, a, s.parts[at.part], data, term)
			if word != "" || err != nil {
				return word, err
			}
		}
	}
	return "", nil
}

// wordIn returns the word of a term in the first live chunks of its postings.
func (s *search) wordIn(
	ctx context.Context, a *terms.Analyzer, p *part, data []byte, term string,
) (string, error) {
	var keys []int64
	for it := (postings.Iterator{Data: data}); len(keys) < mostCorrected && it.Next(); {
		if it.Local < p.rows.count && s.found(p, it.Local) {
			keys = append(keys, p.rows.at(it.Local))
		}
	}
	chunks, err := s.chunks(ctx, keys)
	if err != nil {
		return "", err
	}
	for _, key := range keys {
		c := chunks[key]
		text := c.Searched()
		for _, t := range a.Append(nil, text) {
			if t.Text == term {
				return strings.ToLower(text[t.Start:t.End]), nil
			}
		}
	}
	return "", nil // it stands in the name of the document only
}
