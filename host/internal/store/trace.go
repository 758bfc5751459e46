package store

import (
	"context"
	"fmt"
	"strings"
)

// Traces has the index of kept runs: which block has which runs, and the documents that they ran.
type Traces struct{ *database }

// TraceBlock describes a block of traces of one canvas.
type TraceBlock struct {
	ID      string
	Tenant  string
	Canvas  string
	Day     string // when it was written, such as 2026-11-28 (UTC)
	Place   string // where its bytes are, within the day of the tenant
	At      int64  // offset of its bytes there
	Size    int64
	RawSize int64  // before compression
	Runs    []byte // ids and offsets, as package traces writes them
	// When the first and the last of its runs ended, in Unix milliseconds.
	FirstEnd, LastEnd int64
	// Heads is written and not read back: see [Traces.Heads].
	Heads []byte
}

const blockColumns = `id, tenant_id, canvas_id, day, place, position, size, raw_size, runs, first_end, last_end`

func scanTraceBlock(r row) (b TraceBlock, err error) {
	err = r.Scan(&b.ID, &b.Tenant, &b.Canvas, &b.Day, &b.Place, &b.At, &b.Size, &b.RawSize, &b.Runs, &b.FirstEnd,
		&b.LastEnd)
	return b, err
}

// TraceDoc is a document that runs of a canvas have run.
type TraceDoc struct {
	Hash string
	Body []byte // sealed; empty for a document that is known to be stored
}

// Add adds a block, and the documents that its runs have run, in one commit.
func (s Traces) Add(ctx context.Context, b TraceBlock, docs []TraceDoc) error {
	return s.write(ctx, "add a block of traces", func(ctx context.Context, q querier) error {
		for _, d := range docs {
			if err := s.addDoc(ctx, q, b, d); err != nil {
				return err
			}
		}
		return insertBlock(ctx, q, b)
	})
}

func (s Traces) addDoc(ctx context.Context, q querier, b TraceBlock, d TraceDoc) error {
	if len(d.Body) == 0 {
		const update = `UPDATE canvas_docs SET last_time = $1 WHERE tenant_id = $2 AND hash = $3`
		res, err := q.ExecContext(ctx, update, s.ms(), b.Tenant, d.Hash)
		return changed(res, err, fmt.Errorf("document %s: %w", d.Hash, ErrNotFound))
	}
	const upsert = `INSERT INTO canvas_docs (tenant_id, hash, canvas_id, body, first_time, last_time)
		VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT (tenant_id, hash) DO UPDATE SET last_time = excluded.last_time`
	_, err := q.ExecContext(ctx, upsert, b.Tenant, d.Hash, b.Canvas, d.Body, s.ms())
	return err
}

func insertBlock(ctx context.Context, q querier, b TraceBlock) error {
	const insert = `INSERT INTO trace_blocks (` + blockColumns + `, heads)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	_, err := q.ExecContext(ctx, insert, b.ID, b.Tenant, b.Canvas, b.Day, b.Place, b.At, b.Size, b.RawSize, b.Runs,
		b.FirstEnd, b.LastEnd, bytesOf(b.Heads))
	return err
}

// Heads returns the sealed heads of a block. Errors: [ErrNotFound].
func (s Traces) Heads(ctx context.Context, id string) (heads []byte, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT heads FROM trace_blocks WHERE id = $1`, id).Scan(&heads)
	return heads, fail(err, "heads of a block of traces")
}

// Document returns the sealed document with a hash. Errors: [ErrNotFound].
func (s Traces) Document(ctx context.Context, tenant, hash string) (body []byte, err error) {
	const query = `SELECT body FROM canvas_docs WHERE tenant_id = $1 AND hash = $2`
	err = s.read.QueryRowContext(ctx, query, tenant, hash).Scan(&body)
	return body, fail(err, "document of a run")
}

// longestBlock bounds the time between the ends of the first and the last run of a block, in
// milliseconds: a run waits for its block for a day at most.
const longestBlock = 48 * 60 * 60 * 1000

// Around returns the blocks of a canvas that may have a run that ended between two times. It reads
// those that were written within some days, and not all that are newer.
func (s Traces) Around(ctx context.Context, tenant, canvas string, from, to int64) ([]TraceBlock, error) {
	const query = `SELECT ` + blockColumns + ` FROM trace_blocks
		WHERE tenant_id = $1 AND canvas_id = $2 AND last_end >= $3 AND last_end <= $5 AND first_end <= $4
		ORDER BY last_end, id`
	out, err := queryAll(ctx, s.read, scanTraceBlock, query, tenant, canvas, from, to, to+longestBlock)
	return out, fail(err, "blocks of traces")
}

// Since returns the blocks of all tenants that were written on a day or later, in no order.
func (s Traces) Since(ctx context.Context, day string) ([]TraceBlock, error) {
	out, err := queryAll(ctx, s.read, scanTraceBlock, `SELECT `+blockColumns+` FROM trace_blocks WHERE day >= $1`, day)
	return out, fail(err, "blocks of traces")
}

// Gone reports whether the trace of a run was deleted.
func (s Traces) Gone(ctx context.Context, tenant, run string) (bool, error) {
	gone, err := exists(ctx, s.read, `SELECT 1 FROM trace_gone WHERE run_id = $1 AND tenant_id = $2`, run, tenant)
	return gone, fail(err, "trace of run %q", run)
}

// markGone marks the traces of the runs that a condition selects as deleted.
func (s *database) markGone(ctx context.Context, q querier, condition string, args ...any) error {
	query := fmt.Sprintf(`INSERT INTO trace_gone (run_id, tenant_id, time) SELECT id, tenant_id, %d FROM runs
		WHERE %s ON CONFLICT DO NOTHING`, s.ms(), condition)
	_, err := q.ExecContext(ctx, query, args...)
	return err
}

// GoneRun is a run whose trace was deleted.
type GoneRun struct {
	Run, Tenant string
	Time        int64 // Unix milliseconds
}

// GoneRuns returns the runs whose traces were deleted and may still be in a block.
func (s Traces) GoneRuns(ctx context.Context) ([]GoneRun, error) {
	out, err := queryAll(ctx, s.read, func(r row) (g GoneRun, err error) {
		return g, r.Scan(&g.Run, &g.Tenant, &g.Time)
	}, `SELECT run_id, tenant_id, time FROM trace_gone`)
	return out, fail(err, "deleted traces")
}

// Blocks returns the blocks of a tenant that were written on a day or later.
func (s Traces) Blocks(ctx context.Context, tenant, day string) ([]TraceBlock, error) {
	out, err := queryAll(ctx, s.read, scanTraceBlock,
		`SELECT `+blockColumns+` FROM trace_blocks WHERE tenant_id = $1 AND day >= $2`, tenant, day)
	return out, fail(err, "blocks of traces")
}

// Replace puts a block in the place of one that has more runs, or nothing if its id is "".
//
// Errors: [ErrNotFound] when the former block is no longer there.
func (s Traces) Replace(ctx context.Context, former string, b TraceBlock) error {
	return s.writeAlways(ctx, "rewrite a block of traces", func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, `DELETE FROM trace_blocks WHERE id = $1`, former)
		if err := changed(res, err, fmt.Errorf("block %s: %w", former, ErrNotFound)); err != nil || b.ID == "" {
			return err
		}
		return insertBlock(ctx, q, b)
	})
}

// Forget deletes the marks of runs that are older than a time, in Unix milliseconds.
func (s Traces) Forget(ctx context.Context, before int64) error {
	return s.writeAlways(ctx, "forget deleted traces", func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, `DELETE FROM trace_gone WHERE time < $1`, before)
		return err
	})
}

// AppendBytes stores the bytes of a block; see [Traces.Bytes].
func (s Traces) AppendBytes(ctx context.Context, tenant, day, id string, body []byte) error {
	const insert = `INSERT INTO trace_bytes (tenant_id, day, id, body) VALUES ($1, $2, $3, $4)`
	_, err := s.exec(ctx, insert, tenant, day, id, body)
	return fail(err, "add bytes of traces")
}

// Bytes returns the bytes of a block. Errors: [ErrNotFound].
func (s Traces) Bytes(ctx context.Context, tenant, day, id string) (body []byte, err error) {
	const query = `SELECT body FROM trace_bytes WHERE tenant_id = $1 AND day = $2 AND id = $3`
	err = s.read.QueryRowContext(ctx, query, tenant, day, id).Scan(&body)
	return body, fail(err, "bytes of traces")
}

// DeleteBytes deletes the bytes of a block, or with an empty id of all blocks of a day,
// and with an empty day of all days.
func (s Traces) DeleteBytes(ctx context.Context, tenant, day, id string) error {
	return s.writeAlways(ctx, "delete bytes of traces", func(ctx context.Context, q querier) error {
		const query = `DELETE FROM trace_bytes WHERE tenant_id = $1
			AND ($2 = '' OR day = $2) AND ($3 = '' OR id = $3)`
		_, err := q.ExecContext(ctx, query, tenant, day, id)
		return err
	})
}

// Find returns the runs with some ids, of all tenants, in no order.
func (s Runs) Find(ctx context.Context, ids []string) ([]Run, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	marks, args := make([]string, len(ids)), make([]any, len(ids))
	for i, id := range ids {
		marks[i], args[i] = fmt.Sprintf("$%d", i+1), id
	}
	query := `SELECT ` + runColumns + ` FROM runs WHERE id IN (` + strings.Join(marks, ", ") + `)`
	out, err := queryAll(ctx, s.read, scanRun, query, args...)
	return out, fail(err, "find runs")
}

// TraceUse is the size of the traces of a canvas of one day.
type TraceUse struct {
	Tenant, Day, Canvas string
	Blocks, Size        int64
}

// Uses returns the sizes of the traces of a tenant, or with "" of all, oldest day first.
func (s Traces) Uses(ctx context.Context, tenant string) ([]TraceUse, error) {
	const query = `SELECT tenant_id, day, canvas_id, COUNT(*), CAST(SUM(size) AS BIGINT) FROM trace_blocks
		WHERE $1 = '' OR tenant_id = $1 GROUP BY tenant_id, day, canvas_id ORDER BY day, tenant_id, canvas_id`
	out, err := queryAll(ctx, s.read, func(r row) (u TraceUse, err error) {
		return u, r.Scan(&u.Tenant, &u.Day, &u.Canvas, &u.Blocks, &u.Size)
	}, query, tenant)
	return out, fail(err, "sizes of traces")
}

// DeleteDay deletes the entries of the blocks of a day of a tenant.
func (s Traces) DeleteDay(ctx context.Context, tenant, day string) error {
	return s.writeAlways(ctx, "delete a day of traces", func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, `DELETE FROM trace_blocks WHERE tenant_id = $1 AND day = $2`, tenant, day)
		return err
	})
}

// DeleteDocuments deletes the documents of a tenant that no run has used since a time, in Unix
// milliseconds.
func (s Traces) DeleteDocuments(ctx context.Context, tenant string, before int64) error {
	return s.writeAlways(ctx, "delete documents of runs", func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, `DELETE FROM canvas_docs WHERE tenant_id = $1 AND last_time < $2`, tenant, before)
		return err
	})
}
