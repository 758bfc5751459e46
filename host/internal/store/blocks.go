package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// blockRows is the approximate number of rows in a block. A page counts the rows after the last
	// block, and skips those before it within its own block.
	blockRows = 5_000
	// mostBlocks bounds the blocks that one page counts, so that it does not wait until a long list
	// is counted for the first time.
	mostBlocks = 64
	// blockAge is the age from which no new row can appear in a list. It is longer than
	// settledAfter because blocks are stored permanently.
	blockAge = 10 * time.Minute
	// recountAfter is the age at which the count of a block is read again: a host of another
	// version may have deleted rows without updating it.
	recountAfter = 24 * time.Hour
)

// scope is a list whose rows are counted in blocks: of a tenant, or of one of its canvases.
type scope struct{ table, tenant, canvas string }

// where returns the condition for the rows of the scope.
func (c scope) where() *where {
	w := &where{}
	w.equal("tenant_id", c.tenant)
	w.equal("canvas_id", c.canvas)
	return w
}

// block is the number of rows of a scope that were created in a time range.
type block struct {
	from, to int64 // Unix milliseconds; to is exclusive
	rows     int
	checked  int64 // Unix milliseconds
}

func scanBlock(r row) (b block, err error) {
	return b, r.Scan(&b.from, &b.to, &b.rows, &b.checked)
}

// blocksOf returns the blocks of a scope, oldest first.
func blocksOf(ctx context.Context, q querier, c scope) ([]block, error) {
	const query = `SELECT from_time, to_time, row_count, check_time FROM list_blocks
		WHERE list = $1 AND tenant_id = $2 AND canvas_id = $3 ORDER BY from_time`
	return queryAll(ctx, q, scanBlock, query, c.table, c.tenant, c.canvas)
}

// counted is the number of rows of a scope.
type counted struct {
	blocks []block
	total  int
}

// countScope counts the rows of a scope: blocks, plus individual rows after the last block.
func countScope(ctx context.Context, s *database, c scope) (counted, error) {
	blocks, err := blocksOf(ctx, s.read, c)
	if err != nil {
		return counted{}, err
	}
	n := counted{blocks: blocks}
	w, now := c.where(), s.now()
	settled := now.Add(-blockAge).UnixMilli()
	if len(blocks) > 0 {
		w.add("create_time >= ?", blocks[len(blocks)-1].to)
	}
	var old int
	if n.total, old, err = countBefore(ctx, s.read, c.table, w, settled); err != nil {
		return counted{}, err
	}
	for _, b := range blocks {
		n.total += b.rows
	}
	keep := func(op func(ctx context.Context, q querier) error) {
		// Storing blocks is best effort: the count is correct without them, and pages must be
		// readable on a full disk. The next page retries.
		_ = s.write(ctx, "count "+c.table, op)
	}
	if old >= blockRows {
		keep(func(ctx context.Context, q querier) error { return addBlocks(ctx, q, c, settled, now.UnixMilli()) })
	} else if i := stale(blocks, now); i >= 0 {
		keep(func(ctx context.Context, q querier) error { return recount(ctx, q, c, blocks[i], now.UnixMilli()) })
	}
	return n, nil
}

// lockLists serializes counting and deleting listed rows until the end of the transaction.
func lockLists(ctx context.Context, q querier) error {
	res, err := q.ExecContext(ctx, `UPDATE meta SET value = value WHERE name = 'lists'`)
	return changed(res, err, errors.New("the row lists of the table meta is missing"))
}

// addBlocks counts the rows of a scope that were created after its last block and before settled.
func addBlocks(ctx context.Context, q querier, c scope, settled, now int64) error {
	if err := lockLists(ctx, q); err != nil {
		return err
	}
	blocks, err := blocksOf(ctx, q, c)
	if err != nil {
		return err
	}
	from := int64(0)
	if len(blocks) > 0 {
		from = blocks[len(blocks)-1].to
	}
	for range mostBlocks {
		to, err := blockEnd(ctx, q, c, from, settled)
		if err != nil || to == 0 {
			return err
		}
		rows, err := rowsBetween(ctx, q, c, from, to)
		if err != nil {
			return err
		}
		_, err = q.ExecContext(ctx, `INSERT INTO list_blocks VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			c.table, c.tenant, c.canvas, from, to, rows, now)
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}

// blockEnd returns the end of a block of blockRows rows that starts at from, or 0 if there are not
// enough rows before settled.
func blockEnd(ctx context.Context, q querier, c scope, from, settled int64) (int64, error) {
	w := c.where()
	w.add("create_time >= ?", from)
	w.add("create_time < ?", settled)
	query := fmt.Sprintf(`SELECT create_time FROM %s%s ORDER BY create_time LIMIT 1 OFFSET %d`, c.table, w, blockRows)
	ends, err := queryAll(ctx, q, scanTime, query, w.args...)
	if err != nil || len(ends) == 0 {
		return 0, err
	}
	return max(ends[0], from+1), nil // all rows may have the same creation time
}

func scanTime(r row) (t int64, err error) { return t, r.Scan(&t) }

func rowsBetween(ctx context.Context, q querier, c scope, from, to int64) (rows int, err error) {
	w := c.where()
	w.add("create_time >= ?", from)
	w.add("create_time < ?", to)
	err = q.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+c.table+w.String(), w.args...).Scan(&rows)
	return rows, err
}

// stale returns the index of a block that needs a recount, or -1.
func stale(blocks []block, now time.Time) int {
	before := now.Add(-recountAfter).UnixMilli()
	return slices.IndexFunc(blocks, func(b block) bool { return b.checked < before })
}

// recount updates the count of a block.
func recount(ctx context.Context, q querier, c scope, b block, now int64) error {
	if err := lockLists(ctx, q); err != nil {
		return err
	}
	rows, err := rowsBetween(ctx, q, c, b.from, b.to)
	if err != nil {
		return err
	}
	const update = `UPDATE list_blocks SET row_count = $1, check_time = $2
		WHERE list = $3 AND tenant_id = $4 AND canvas_id = $5 AND from_time = $6 AND to_time = $7`
	_, err = q.ExecContext(ctx, update, rows, now, c.table, c.tenant, c.canvas, b.from, b.to)
	return err
}

// deletedRow is the part of a deleted row that blocks depend on.
type deletedRow struct {
	tenant, canvas string
	created        int64
}

// returnDeleted is the RETURNING clause that deleteListed appends.
const returnDeleted = ` RETURNING tenant_id, canvas_id, create_time`

func scanDeleted(r row) (d deletedRow, err error) {
	return d, r.Scan(&d.tenant, &d.canvas, &d.created)
}

// deleteListed runs a DELETE of listed rows, updates their blocks and returns the number of rows.
// The query must not have a RETURNING clause.
func deleteListed(ctx context.Context, q querier, table, query string, args ...any) (int64, error) {
	if err := lockLists(ctx, q); err != nil {
		return 0, err
	}
	rows, err := queryAll(ctx, q, scanDeleted, query+returnDeleted, args...)
	if err != nil {
		return 0, err
	}
	fewer := map[scope][]int64{}
	for _, r := range rows {
		whole := scope{table, r.tenant, ""}
		fewer[whole] = append(fewer[whole], r.created)
		if r.canvas != "" {
			one := scope{table, r.tenant, r.canvas}
			fewer[one] = append(fewer[one], r.created)
		}
	}
	for c, created := range fewer {
		if err := lower(ctx, q, c, created); err != nil {
			return 0, err
		}
	}
	return int64(len(rows)), nil
}

// lower subtracts deleted rows from the blocks of a scope, and removes empty blocks.
func lower(ctx context.Context, q querier, c scope, created []int64) error {
	blocks, err := blocksOf(ctx, q, c)
	if err != nil {
		return err
	}
	fewer := map[int64]int{}
	for _, t := range created {
		i, _ := slices.BinarySearchFunc(blocks, t, func(b block, t int64) int { return cmp.Compare(b.to, t+1) })
		if i < len(blocks) && blocks[i].from <= t {
			fewer[blocks[i].from]++
		}
	}
	const ofScope = ` WHERE list = $1 AND tenant_id = $2 AND canvas_id = $3`
	const update = `UPDATE list_blocks SET row_count = row_count - $5` + ofScope + ` AND from_time = $4`
	for from, n := range fewer {
		if _, err := q.ExecContext(ctx, update, c.table, c.tenant, c.canvas, from, n); err != nil {
			return err
		}
	}
	const empty = `DELETE FROM list_blocks` + ofScope + ` AND row_count <= 0`
	_, err = q.ExecContext(ctx, empty, c.table, c.tenant, c.canvas)
	return err
}

// narrow makes a page ordered by creation start at its block: it adds a condition to w and
// subtracts the rows outside from the offset and the row count.
func (n *counted) narrow(w *where, p *Page) {
	if p.Limit <= 0 || p.After != nil || len(n.blocks) == 0 {
		return
	}
	last := n.blocks[len(n.blocks)-1]
	before := n.total // rows in no block
	for _, b := range n.blocks {
		before -= b.rows
	}
	outside := 0
	if p.Asc {
		for _, b := range n.blocks {
			if p.Offset < outside+b.rows {
				n.begin(w, p, "create_time >= ?", b.from, outside)
				return
			}
			outside += b.rows
		}
		n.begin(w, p, "create_time >= ?", last.to, outside)
		return
	}
	if p.Offset < before {
		return
	}
	outside = before
	for _, b := range slices.Backward(n.blocks) {
		if p.Offset < outside+b.rows {
			n.begin(w, p, "create_time < ?", b.to, outside)
			return
		}
		outside += b.rows
	}
}

func (n *counted) begin(w *where, p *Page, cond string, at int64, outside int) {
	w.add(cond, at)
	p.Offset -= outside
	n.total -= outside
}
