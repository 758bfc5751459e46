package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// change is a transaction on a dataset. Changes of the memory are collected and applied when it
// commits.
type change struct {
	*sql.Tx
	x        *Index
	d        *dataset
	appender *appender

	added      *segment            // chunks of this change that are not in a segment yet
	flushed    []*segment          // segments that this change made; the old tail is the first
	dead       map[*segment]bitmap // of segments and the tail; overrides theirs
	killed     map[*segment][]int  // numbers of chunks that died
	hidden     map[*segment]bitmap
	dims       int
	access     map[int64]access.List // of documents that were written
	statements map[string]*sql.Stmt

	chunks, vectors rows  // that are not in the file yet
	lastRow         int64 // the highest id of a chunk; 0 before it is read
}

// change runs f in a transaction on a dataset and makes its results visible in one step.
func (x *Index) change(ctx context.Context, key string, f func(c *change) error) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	d, err := x.load(ctx, key)
	if err != nil {
		return err
	}
	// Before the change and not after it, so that an error means that nothing has changed. A full
	// disk may have space for the change, which may be a deletion.
	if err := x.merge(ctx, d); err != nil && !isFull(err) {
		return datasetError(key, err)
	}
	if err := x.flushOthers(ctx, d); err != nil {
		return err
	}
	return datasetError(key, x.transact(ctx, d, f))
}

// tails bounds the size of the tails of all datasets together, as a multiple of that of one.
const tails = 2

// flushOthers bounds the memory for tails: while all are too large, it makes a segment of the
// largest one that is not of d.
func (x *Index) flushOthers(ctx context.Context, d *dataset) error {
	for {
		size, largest := d.tail.tail.size, d
		for _, other := range x.loaded {
			if other == d {
				continue
			}
			size += other.tail.tail.size
			if largest == d || other.tail.tail.size > largest.tail.tail.size {
				largest = other
			}
		}
		if largest.tail.tail.size == 0 || largest == d || size <= tails*x.flushSize {
			return nil
		}
		err := x.transact(ctx, largest, func(c *change) error { return c.flushTail(ctx) })
		if err != nil {
			return datasetError(largest.key, err)
		}
	}
}

// transact runs f in a transaction on a dataset. The caller holds x.writing.
func (x *Index) transact(ctx context.Context, d *dataset, f func(c *change) error) (err error) {
	c := &change{
		x: x, d: d, added: newAdded(), dims: d.dims, chunks: newChunkRows(), vectors: newVectorRows(),
		dead: map[*segment]bitmap{}, killed: map[*segment][]int{}, hidden: map[*segment]bitmap{},
		access: map[int64]access.List{},
	}
	if c.appender, err = x.appender(d.settings); err != nil {
		return err
	}
	c.appender.trim()
	defer func() { c.appender.release(c.added) }()
	if err := x.prepareChanges(ctx); err != nil {
		return err
	}
	if c.Tx, err = x.write.BeginTx(ctx, nil); err != nil {
		return err
	}
	defer c.Rollback() // without effect after the commit
	if err = f(c); err == nil {
		err = c.insertRows(ctx)
	}
	if err != nil {
		return err
	}
	if len(c.flushed) == 0 && d.tail.tail.size+c.added.tail.size > x.flushSize {
		if err = c.flushTail(ctx); err != nil {
			return err
		}
	}
	if err = c.store(ctx); err != nil {
		return err
	}
	return c.commit()
}

// store writes what changed about segments.
func (c *change) store(ctx context.Context) error {
	for s, dead := range c.dead {
		if s.id == 0 {
			continue // the rows of a tail are deleted, which suffices
		}
		const replace = `INSERT INTO dead (segment, data) VALUES (?, ?) ON CONFLICT DO UPDATE SET data = excluded.data`
		if _, err := c.ExecContext(ctx, replace, s.id, dead.encode()); err != nil {
			return err
		}
	}
	if c.dims != c.d.dims {
		_, err := c.ExecContext(ctx, `UPDATE datasets SET dims = ? WHERE id = ?`, c.dims, c.d.id)
		return err
	}
	return nil
}

// commit makes the change visible to searches.
func (c *change) commit() error {
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	if err := c.Commit(); err != nil {
		return err
	}
	for id, list := range c.access {
		if c.d.access[id] = list; list == "" {
			delete(c.d.access, id)
		}
	}
	c.d.views.forget()
	for s, dead := range c.dead {
		s.dead = dead
	}
	for s, numbers := range c.killed {
		for _, n := range numbers {
			s.kill(n)
		}
	}
	for s, hidden := range c.hidden {
		s.hidden = hidden
	}
	c.d.dims = c.dims
	if len(c.flushed) > 0 {
		c.d.segments = append(c.d.segments[:len(c.d.segments):len(c.d.segments)], c.flushed...)
		c.d.tail = newTail()
	}
	c.appender.extend(c.d.tail, c.added)
	return nil
}

// flushTail makes a segment of the tail, unless this change did so already.
func (c *change) flushTail(ctx context.Context) error {
	old := c.d.tail
	if len(c.flushed) > 0 || old.rows.count == 0 {
		return nil
	}
	s, err := c.writeTail(ctx, old, c.deadOf(old))
	if err != nil {
		return err
	}
	// Later deletions in this change are to hit the segment, not the tail.
	c.flushed = append(c.flushed, s)
	c.moved(old, s)
	return nil
}

// flush makes segments of the tail and of the added chunks, in the order of their rows.
func (c *change) flush(ctx context.Context) error {
	if err := c.flushTail(ctx); err != nil {
		return err
	}
	s, err := c.writeTail(ctx, c.added, c.added.dead)
	if err != nil {
		return err
	}
	c.moved(c.added, s)
	c.flushed = append(c.flushed, s)
	c.appender.release(c.added)
	c.added = newAdded()
	c.appender.trim()
	return nil
}

// moved transfers the changes of a tail to the segment that it was made into.
func (c *change) moved(from, to *segment) {
	if dead, ok := c.dead[from]; ok {
		to.dead = dead.clone()
		delete(c.dead, from)
	}
	for _, n := range c.killed[from] {
		to.kill(n)
	}
	delete(c.killed, from)
	if hidden, ok := c.hidden[from]; ok {
		to.hidden = hidden.clone()
		delete(c.hidden, from)
	}
}

func (c *change) deadOf(s *segment) bitmap {
	if dead, ok := c.dead[s]; ok {
		return dead
	}
	return s.dead
}

// find returns the segment of this change, of the tail or of the dataset that holds a row.
func (c *change) find(row int64) (*segment, int) {
	parts := append(c.d.parts(), c.flushed...)
	parts = append(parts, c.added)
	for i := len(parts) - 1; i >= 0; i-- {
		if s := parts[i]; s.rows.count > 0 && s.rows.at(0) <= row && row <= s.rows.last() {
			if s == c.d.tail && len(c.flushed) > 0 {
				continue // it is the first of the flushed ones
			}
			if local := s.local(row); local >= 0 {
				return s, local
			}
		}
	}
	return nil, -1
}

// kill removes a row from the memory.
func (c *change) kill(row int64) {
	s, local := c.find(row)
	if s == nil {
		return // a row that was removed from a tail before the file was opened
	}
	if s == c.added {
		s.dead = s.dead.with(local)
		s.kill(local)
		return
	}
	dead, ok := c.dead[s]
	if !ok {
		dead = s.dead.clone()
	}
	if !dead.has(local) {
		c.killed[s] = append(c.killed[s], local)
		c.dead[s] = dead.with(local)
	}
}

// show hides a row or shows it.
func (c *change) show(row int64, on bool) {
	s, local := c.find(row)
	if s == nil {
		return
	}
	hidden, ok := c.hidden[s]
	if !ok {
		hidden = s.hidden.clone()
	}
	if on {
		hidden = hidden.without(local)
	} else {
		hidden = hidden.with(local)
	}
	c.hidden[s] = hidden
}

// document returns the number of a document, made or changed as given.
func (c *change) document(ctx context.Context, d *index.Document) (id int64, err error) {
	meta, err := json.Marshal(d.Meta)
	if err != nil {
		return 0, fmt.Errorf("metadata: %w", err)
	}
	err = c.scanRow(ctx, upsertDocument, &id, c.d.id, d.ID, d.Name, string(meta), d.Version, d.Access)
	if err != nil {
		return 0, err
	}
	c.access[id] = d.Access
	return id, c.label(ctx, id, d)
}

// describe changes metadata and version of a document.
func (c *change) describe(ctx context.Context, d *index.Document) error {
	meta, err := json.Marshal(d.Meta)
	if err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	var id int64
	const update = `UPDATE documents SET meta = ?, version = ?, access = ? WHERE dataset = ? AND key = ?
		RETURNING id`
	err = c.QueryRowContext(ctx, update, string(meta), d.Version, d.Access, c.d.id, d.ID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	c.access[id] = d.Access
	return c.label(ctx, id, d)
}

// label replaces the metadata values that filters read.
func (c *change) label(ctx context.Context, id int64, d *index.Document) error {
	if _, err := c.exec(ctx, deleteMetadata, id); err != nil {
		return err
	}
	for key, v := range d.Meta {
		for _, value := range index.MetaValues(v) {
			_, err := c.exec(ctx, `INSERT OR IGNORE INTO metadata (dataset, key, value, document) VALUES (?, ?, ?, ?)`,
				c.d.id, key, value, id)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// known returns the number and name of a stored document.
func (c *change) known(ctx context.Context, key string) (id int64, name string, err error) {
	err = c.QueryRowContext(ctx, `SELECT id, name FROM documents WHERE dataset = ? AND key = ?`, c.d.id,
		key).Scan(&id, &name)
	if errors.Is(err, sql.ErrNoRows) {
		err = index.UnknownDocument(key)
	}
	return id, name, err
}

// clear removes chunks of a document: those with the given ids, or all without any.
func (c *change) clear(ctx context.Context, doc int64, ids ...string) (int, error) {
	rows, err := c.rowsOf(ctx, doc, ids)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	for _, statement := range [...]string{
		`DELETE FROM chunks WHERE id IN (SELECT value FROM json_each(?))`,
		`DELETE FROM vectors WHERE id IN (SELECT value FROM json_each(?))`,
	} {
		if _, err := c.ExecContext(ctx, statement, jsonList(rows)); err != nil {
			return 0, err
		}
	}
	for _, row := range rows {
		c.kill(row)
	}
	return len(rows), nil
}

// rowsOf returns the rows of chunks of a document: those with the given ids, or all without any.
func (c *change) rowsOf(ctx context.Context, doc int64, ids []string) ([]int64, error) {
	query, args := selectChunks, []any{doc}
	if len(ids) > 0 {
		query += ` AND key IN (SELECT value FROM json_each(?))`
		args = append(args, jsonList(ids))
	}
	stmt, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return numbers(rows)
}

func numbers(rows *sql.Rows) (out []int64, err error) {
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

// jsonList returns a list as a parameter for json_each.
func jsonList[T int64 | string](list []T) string {
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // numbers and strings always can be encoded
	}
	return string(text)
}
