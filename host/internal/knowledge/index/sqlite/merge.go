package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

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

// writeSegment stores a segment with its postings and sets its id.
func (c *change) writeSegment(ctx context.Context, s *segment, lists iter.Seq2[string, []byte]) error {
	res, err := c.ExecContext(ctx, `INSERT INTO segments (dataset, first, data) VALUES (?, ?, ?)`, c.d.id,
		s.rows.at(0), s.encode())
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
		if s.live*2 < s.rows.count {
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
	m := &merger{c: c, old: old, merged: newSegment()}
	for _, s := range old {
		m.absorb(s)
	}
	var replacement []*segment
	if m.merged.rows.count > 0 {
		err := c.writeSegment(ctx, m.merged, m.lists(ctx))
		if err = errors.Join(err, m.failed); err != nil {
			return err
		}
		replacement = []*segment{m.merged}
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
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := tx.Commit(); err != nil {
		return err
	}
	d.segments = slices.Concat(d.segments[:from], replacement, d.segments[to:])
	return nil
}

// merger makes one segment of several.
type merger struct {
	c       *change
	old     []*segment
	merged  *segment
	numbers [][]int // of the chunks of each old segment in the merged one; -1 is a dead one
	failed  error   // why lists ended early
}

// absorb adds the live chunks of the next segment.
func (m *merger) absorb(s *segment) {
	merged, numbers := m.merged, make([]int, s.rows.count)
	for i := range s.rows.count {
		numbers[i] = -1
		if s.dead.has(i) {
			continue
		}
		n := merged.rows.count
		numbers[i] = n
		merged.rows.add(s.rows.at(i))
		merged.docs.add(s.docs.at(i))
		merged.lengths = append(merged.lengths, s.lengths[i])
		if s.hidden.has(i) {
			merged.hidden = merged.hidden.with(n)
		}
	}
	m.numbers = append(m.numbers, numbers)
	merged.live, merged.words = merged.live+s.live, merged.words+s.words
	for _, group := range s.codes {
		kept := group.Keep(m.c.dims, func(local int) bool { return numbers[local] >= 0 })
		if kept.Len() > 0 {
			kept.First = firstOf(numbers[group.First:])
			merged.codes = append(merged.codes, kept)
		}
	}
}

// lists returns the postings of the merged segment in the order of the terms. Those of one term are
// in memory at a time.
func (m *merger) lists(ctx context.Context) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		m.failed = m.eachList(ctx, yield)
	}
}

func (m *merger) eachList(ctx context.Context, yield func(string, []byte) bool) error {
	query, args := postingsOf(m.old)
	rows, err := m.c.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var of string // the term of list
	var list postings.List
	for rows.Next() {
		var term string
		var part int
		var data []byte // not sql.RawBytes, which keeps a canceled transaction from ending
		if err := rows.Scan(&term, &part, &data); err != nil {
			return err
		}
		if term != of {
			if list.Len > 0 && !yield(of, list.Data) {
				return nil
			}
			of, list = term, postings.List{}
		}
		if _, err := m.old[part].holding(data); err != nil {
			return fmt.Errorf("segment %d: term %q: %w", m.old[part].id, term, err)
		}
		numbers := m.numbers[part]
		list.Extend(data, func(local int) int { return numbers[local] })
	}
	if list.Len > 0 {
		yield(of, list.Data)
	}
	return rows.Err()
}

// postingsOf returns a query of the postings of segments in the order of the terms. SQLite reads
// the segments side by side, each by its key.
func postingsOf(segments []*segment) (query string, args []any) {
	queries := make([]string, len(segments))
	for i, s := range segments {
		queries[i] = `SELECT term, ` + strconv.Itoa(i) + ` AS part, data FROM postings WHERE segment = ?`
		args = append(args, s.id)
	}
	return strings.Join(queries, ` UNION ALL `) + ` ORDER BY term, part`, args
}

// firstOf returns the first number that is not negative.
func firstOf(numbers []int) int {
	return numbers[slices.IndexFunc(numbers, func(n int) bool { return n >= 0 })]
}
