package sqlite

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postings"
)

// Segments are merged when there are mergeFactor neighbours of about one size, and not beyond
// largestSegment chunks, so that a write never takes long because of it.
const (
	mergeFactor    = 8
	largestSegment = 250_000
)

// writeTail makes a segment of a tail. dead replaces that of the tail.
func (c *change) writeTail(ctx context.Context, from *segment, dead bitmap) (*segment, error) {
	s := &segment{
		rows: from.rows, docs: from.docs, lengths: from.lengths, hidden: from.hidden.clone(), dead: dead.clone(),
		live: from.live, words: from.words, codes: codes.Encode(from.tail.vectors, c.dims),
	}
	return s, c.writeSegment(ctx, s, from.tail.sorted())
}

// writeSegment stores a segment with its postings and gives it its id.
func (c *change) writeSegment(ctx context.Context, s *segment, lists iter.Seq2[string, []byte]) error {
	res, err := c.ExecContext(ctx, `INSERT INTO segments (dataset, first, data) VALUES (?, ?, ?)`, c.d.id,
		s.rows[0], s.encode())
	if err != nil {
		return err
	}
	if s.id, err = res.LastInsertId(); err != nil {
		return err
	}
	rows := newPostingRows()
	for term, data := range lists {
		if rows.add(s.id, term, data); rows.full() {
			if err := rows.insert(ctx, c); err != nil {
				return err
			}
		}
	}
	if err := rows.insert(ctx, c); err != nil {
		return err
	}
	if s.codes != nil {
		const insert = `INSERT INTO codes (segment, data) VALUES (?, ?)`
		if _, err := c.ExecContext(ctx, insert, s.id, codes.Append(nil, s.codes)); err != nil {
			return err
		}
	}
	if s.dead.count() > 0 {
		_, err = c.ExecContext(ctx, `INSERT INTO dead (segment, data) VALUES (?, ?)`, s.id, s.dead.encode())
	}
	return err
}

// merge merges segments of a dataset until there is nothing to merge. The caller holds x.writing.
func (x *Index) merge(ctx context.Context, d *dataset) error {
	for {
		from, to := mergeable(d.segments)
		if from == to {
			return nil
		}
		if err := x.mergeRange(ctx, d, from, to); err != nil {
			return err
		}
	}
}

// mergeable chooses neighbouring segments to merge: one that is mostly dead, or mergeFactor that
// are small enough for each other. from == to means none.
func mergeable(segments []*segment) (from, to int) {
	for i, s := range segments {
		if s.live*2 < len(s.rows) {
			return i, i + 1
		}
	}
	for most := mergeFactor; most < largestSegment; most *= mergeFactor {
		total := 0
		from = 0
		for to, s := range segments {
			if total += s.live; s.live > most || total > largestSegment {
				from, total = to+1, 0
				continue
			}
			if to+1-from == mergeFactor {
				return from, to + 1
			}
		}
	}
	return 0, 0
}

// mergeRange replaces segments by one without their dead chunks.
func (x *Index) mergeRange(ctx context.Context, d *dataset, from, to int) error {
	tx, err := x.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // without effect after the commit
	c := &change{Tx: tx, x: x, d: d, dims: d.dims}
	old := d.segments[from:to]
	merged, lists := &segment{}, map[string]*postings.List{}
	for _, s := range old {
		if err := c.absorb(ctx, merged, lists, s); err != nil {
			return err
		}
	}
	for _, s := range old {
		for _, statement := range [...]string{
			`DELETE FROM postings WHERE segment = ?`, `DELETE FROM segments WHERE id = ?`,
			`DELETE FROM codes WHERE segment = ?`, `DELETE FROM dead WHERE segment = ?`,
		} {
			if _, err := tx.ExecContext(ctx, statement, s.id); err != nil {
				return err
			}
		}
	}
	var replacement []*segment
	if len(merged.rows) > 0 {
		if err := c.writeSegment(ctx, merged, sortedLists(lists)); err != nil {
			return err
		}
		replacement = []*segment{merged}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := tx.Commit(); err != nil {
		return err
	}
	d.segments = slices.Concat(d.segments[:from], replacement, d.segments[to:])
	return nil
}

// absorb adds the live chunks of a stored segment to a merged one.
func (c *change) absorb(ctx context.Context, merged *segment, lists map[string]*postings.List, s *segment) error {
	renumbered := make([]int, len(s.rows))
	for i := range s.rows {
		renumbered[i] = -1
		if s.dead.has(i) {
			continue
		}
		n := len(merged.rows)
		renumbered[i] = n
		merged.rows, merged.docs = append(merged.rows, s.rows[i]), append(merged.docs, s.docs[i])
		merged.lengths = append(merged.lengths, s.lengths[i])
		if s.hidden.has(i) {
			merged.hidden = merged.hidden.with(n)
		}
	}
	merged.live, merged.words = merged.live+s.live, merged.words+s.words
	for _, group := range s.codes {
		kept := group.Keep(c.dims, func(local int) bool { return renumbered[local] >= 0 })
		if kept.Len() > 0 {
			kept.First = firstOf(renumbered[group.First:])
			merged.codes = append(merged.codes, kept)
		}
	}
	rows, err := c.QueryContext(ctx, `SELECT term, data FROM postings WHERE segment = ?`, s.id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var term string
		var data []byte
		if err := rows.Scan(&term, &data); err != nil {
			return err
		}
		p := lists[term]
		if p == nil {
			p = &postings.List{}
		}
		if _, err := s.holding(data); err != nil {
			return fmt.Errorf("segment %d: term %q: %w", s.id, term, err)
		}
		p.Extend(data, func(local int) int { return renumbered[local] })
		if p.Len > 0 {
			lists[term] = p
		}
	}
	return rows.Err()
}

// firstOf is the first number that is not negative.
func firstOf(numbers []int) int {
	return numbers[slices.IndexFunc(numbers, func(n int) bool { return n >= 0 })]
}
