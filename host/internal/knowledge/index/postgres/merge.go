package postgres

import (
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postings"
)

const (
	// segmentChunks is the number of chunks of one change that become a segment.
	segmentChunks = 8192
	// segmentPostings bounds the memory of their postings.
	segmentPostings = 2 << 20
	// segmentFloats bounds the numbers in their vectors, which take four bytes each.
	segmentFloats = 4 << 20
	// mergedSegments is the number of neighbours below one of mergedSizes that are merged. A search
	// reads each list of each segment; a chunk is rewritten once for each size.
	mergedSegments = 8
)

var mergedSizes = [...]int{64, 512, 4096}

// writeSegment stores the added chunks as a segment.
func (c *change) writeSegment() error {
	if err := c.flush(); err != nil || len(c.added.Rows) == 0 {
		return err
	}
	c.added.codes = codes.Encode(c.added.vectors, c.d.dims)
	err := c.storeSegment(&c.added)
	c.added = added{}
	return err
}

func (c *change) storeSegment(a *added) error {
	var id int64
	err := c.QueryRow(c.ctx, `INSERT INTO segments (dataset, first, last, size, data, codes, hidden)
		VALUES ($1, $2, $3, $4, $5, $6, coalesce($7::bigint[], '{}')) RETURNING id`,
		c.d.id, a.Rows[0], a.Rows[len(a.Rows)-1], len(a.Rows), a.Append(nil), codes.Append([]byte{}, a.codes),
		a.hidden).Scan(&id)
	if err != nil {
		return err
	}
	var terms []int64
	var lists [][]byte
	size := 0
	send := func() error {
		if len(terms) == 0 {
			return nil
		}
		_, err := c.Exec(c.ctx, `INSERT INTO postings (segment, term, data)
			SELECT $1, * FROM unnest($2::bigint[], $3::bytea[])`, id, terms, lists)
		terms, lists, size = terms[:0], lists[:0], 0
		return err
	}
	for _, term := range slices.Sorted(maps.Keys(a.lists)) {
		data := a.lists[term].Data
		terms, lists = append(terms, term), append(lists, data)
		if size += 16 + len(data); size > queuedBytes {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return send()
}

// rowsBySegment groups the chunks $2 of the dataset $1 by their segments.
const rowsBySegment = `SELECT s.id, array_agg(r) AS rows
	FROM segments s JOIN unnest($2::bigint[]) r ON r BETWEEN s.first AND s.last
	WHERE s.dataset = $1 GROUP BY s.id`

// bury marks removed chunks in their segments.
func (c *change) bury() error {
	if len(c.dead) == 0 {
		return nil
	}
	_, err := c.Exec(c.ctx, `UPDATE segments s SET dead = s.dead || d.rows FROM (`+rowsBySegment+`) d
		WHERE d.id = s.id`, c.d.id, c.dead)
	c.dead = nil
	return err
}

// hide marks chunks as enabled or not in their segments.
func (c *change) hide(rows []int64, on bool) error {
	_, err := c.Exec(c.ctx, `UPDATE segments s SET hidden = ARRAY(
			SELECT unnest(s.hidden) EXCEPT SELECT unnest(d.rows) UNION ALL SELECT unnest(d.rows) WHERE NOT $3
		) FROM (`+rowsBySegment+`) d WHERE d.id = s.id`, c.d.id, rows, on)
	return err
}

// merge keeps segments few: it merges small neighbours, and rewrites those that have more dead
// chunks than live ones.
func (c *change) merge() error {
	for {
		rows, err := c.Query(c.ctx, `SELECT id, size, cardinality(dead) FROM segments
			WHERE dataset = $1 ORDER BY first`, c.d.id)
		if err != nil {
			return err
		}
		sizes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[segmentSize])
		if err != nil {
			return err
		}
		from, to := mergeable(sizes)
		if from == to {
			return nil
		}
		ids := make([]int64, 0, to-from)
		for _, s := range sizes[from:to] {
			ids = append(ids, s.ID)
		}
		if err := c.mergeSegments(ids); err != nil {
			return err
		}
	}
}

// segmentSize counts the chunks of a segment, and the dead ones among them.
type segmentSize struct {
	ID         int64
	Size, Dead int
}

// mergeable returns the range of segments to be merged next; an empty one for none.
func mergeable(sizes []segmentSize) (from, to int) {
	for i, s := range sizes {
		if 2*s.Dead > s.Size {
			return i, i + 1
		}
	}
	for _, limit := range mergedSizes {
		start := 0
		for i, s := range sizes {
			if s.Size-s.Dead >= limit {
				start = i + 1
			} else if i+1-start == mergedSegments {
				return start, i + 1
			}
		}
	}
	return 0, 0
}

// mergeSegments writes the live chunks of neighbours as one segment.
func (c *change) mergeSegments(ids []int64) error {
	rows, err := c.Query(c.ctx, `SELECT `+segmentColumns+` FROM segments WHERE id = ANY($1) ORDER BY first`, ids)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[segmentRow])
	if err != nil {
		return err
	}
	segments, err := c.x.segments(c.ctx, c.Tx, list)
	if err != nil {
		return err
	}
	groups, err := c.x.segmentCodes(c.ctx, c.Tx, c.d, segments)
	if err != nil {
		return err
	}
	var merged added
	for _, s := range segments {
		if err := c.absorb(&merged, s, groups[s.id]); err != nil {
			return err
		}
	}
	if err := c.encodeRest(&merged); err != nil {
		return err
	}
	for _, statement := range [...]string{
		`DELETE FROM postings WHERE segment = ANY($1)`, `DELETE FROM segments WHERE id = ANY($1)`,
	} {
		if _, err := c.Exec(c.ctx, statement, ids); err != nil {
			return err
		}
	}
	if len(merged.Rows) == 0 {
		return nil
	}
	return c.storeSegment(&merged)
}

// absorb adds the live chunks of a segment.
func (c *change) absorb(merged *added, s *segment, groups []codes.Group) error {
	renumbered := make([]int, s.size)
	for i, row := range s.Rows {
		renumbered[i] = -1
		if s.dead.has(i) {
			continue
		}
		renumbered[i] = len(merged.Rows)
		merged.Rows, merged.Docs = append(merged.Rows, row), append(merged.Docs, s.Docs[i])
		merged.Lengths = append(merged.Lengths, s.Lengths[i])
		if s.hidden.has(i) {
			merged.hidden = append(merged.hidden, row)
		}
	}
	merged.keepCodes(groups, c.d.dims, renumbered)
	rows, err := c.Query(c.ctx, `SELECT term, data FROM postings WHERE segment = $1`, s.id)
	if err != nil {
		return err
	}
	var term int64
	var data []byte
	_, err = pgx.ForEachRow(rows, []any{&term, (*rawBytes)(&data)}, func() error {
		for it := (postings.Iterator{Data: data}); it.Next(); {
			if it.Local >= s.size {
				return errDamaged
			}
			if local := renumbered[it.Local]; local >= 0 {
				merged.list(term).Add(local, it.Count)
			}
		}
		return nil
	})
	return err
}
