// Package postgres keeps an index in a PostgreSQL database that any number of hosts share.
//
// Words are an inverted index. The chunks of a change become a segment, with a list of postings for
// each term; segments are merged when there are many. The terms are made here and not by the
// database, so that every adapter finds the same. A search reads the lists of its terms and adds
// up BM25 here: scores are exact, and chunks that were deleted do not count. A term is stored as a
// hash of 64 bits of it and its dataset.
//
// Vectors have codes of one bit for each dimension in the segments. A search selects candidates by
// the codes, which are kept in memory, and compares their vectors exactly: in the database where it
// has pgvector, here otherwise.
//
// Writes to one dataset wait for each other by its row; searches see one snapshot and wait for
// nothing. An Index needs one connection at a time, and [Index.Lock] one more.
package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/cespare/xxhash/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postings"
	"github.com/easel-canvas/easel/host/internal/knowledge/terms"
)

// Index is an open database. It implements [index.Index] and [index.Shared].
type Index struct {
	pool  *pgxpool.Pool
	locks *pgxpool.Pool // of Lock alone, so that holders of locks leave connections for the rest
	about string

	pgvector bool
	chunks   segmentCache[*postings.Chunks]
	codes    segmentCache[[]codes.Group]
}

var (
	_ index.Index  = (*Index)(nil)
	_ index.Shared = (*Index)(nil)
)

// Config is the database and name of an index.
type Config struct {
	// URL is the address of the database, with pool_max_conns and the like of pgxpool. Its
	// parameter index_schema is Schema.
	URL string
	// Schema holds the tables, and is created when missing; "" means easel_index. It is for one
	// installation alone: a host drops the datasets that it has no record of.
	Schema string
}

// normal takes the schema out of the address.
func (cfg Config) normal() (Config, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return cfg, errors.New("address is not a URL") // which may have a password
	}
	q := u.Query()
	cfg.Schema = cmp.Or(cfg.Schema, q.Get("index_schema"), "easel_index")
	q.Del("index_schema")
	u.RawQuery = q.Encode()
	cfg.URL = u.String()
	return cfg, nil
}

// Open connects to a database and creates the tables when they are missing.
//
// Errors: [ErrVersion].
func Open(ctx context.Context, cfg Config) (*Index, error) {
	cfg, err := cfg.normal()
	if err != nil {
		return nil, fmt.Errorf("index in PostgreSQL: %w", err)
	}
	x := &Index{
		chunks: segmentCache[*postings.Chunks]{column: "data", most: cachedChunks},
		codes:  segmentCache[[]codes.Group]{column: "codes", most: cachedCodes},
	}
	if x.pool, err = connect(ctx, cfg, 0); err == nil {
		x.locks, err = connect(ctx, cfg, heldLocks)
	}
	if err == nil {
		err = x.prepare(ctx, cfg.Schema)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("index in PostgreSQL: %w", err), x.Close())
	}
	return x, nil
}

// heldLocks bounds the datasets that one host updates at once.
const heldLocks = 4

// connect makes a pool whose connections find the tables first.
func connect(ctx context.Context, cfg Config, conns int32) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, err
	}
	if conns > 0 {
		c.MaxConns = conns
	}
	c.MinConns, c.MinIdleConns = 0, 0
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		const prepend = `SELECT set_config('search_path', $1 || ', ' || current_setting('search_path'), false)`
		_, err := conn.Exec(ctx, prepend, pgx.Identifier{cfg.Schema}.Sanitize())
		return err
	}
	return pgxpool.NewWithConfig(ctx, c)
}

// Close closes all connections.
func (x *Index) Close() error {
	for _, pool := range []*pgxpool.Pool{x.pool, x.locks} {
		if pool != nil {
			pool.Close()
		}
	}
	return nil
}

// String describes the database and the comparison of vectors.
func (x *Index) String() string { return x.about }

// Lock implements [index.Shared]. The lock ends with its connection, and so with its host.
func (x *Index) Lock(ctx context.Context, name string) (release func(), err error) {
	conn, err := x.locks.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("index: lock %q: %w", name, err)
	}
	_, err = conn.Exec(ctx, `SELECT pg_advisory_lock(hashtextextended('easel_index/' || $1, 0))`, name)
	if err != nil {
		conn.Release()
		return nil, fmt.Errorf("index: lock %q: %w", name, err)
	}
	return func() {
		// A closed connection holds no locks; unlocking could fail and leave one behind.
		_ = conn.Hijack().Close(context.WithoutCancel(ctx))
	}, nil
}

// Create implements [index.Index].
func (x *Index) Create(ctx context.Context, key string, s index.Settings) error {
	s = s.Normal()
	if _, err := terms.New(s.Settings); err != nil {
		return fmt.Errorf("dataset %q: %w", key, err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("dataset %q: settings: %w", key, err)
	}
	return index.DatasetError(key, x.tx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO datasets (key, settings) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
			key, string(text))
		if err != nil {
			return err
		}
		d, err := lockDataset(ctx, tx, key)
		if err != nil || d.settings == s {
			return err
		}
		if d.chunks > 0 {
			return fmt.Errorf("it has %d chunks under other settings; drop it first", d.chunks)
		}
		_, err = tx.Exec(ctx, `UPDATE datasets SET settings = $1 WHERE id = $2`, string(text), d.id)
		return err
	}))
}

// Drop implements [index.Index].
func (x *Index) Drop(ctx context.Context, key string) error {
	return index.DatasetError(key, x.tx(ctx, func(tx pgx.Tx) error {
		d, err := lockDataset(ctx, tx, key)
		if errors.Is(err, index.ErrNoDataset) {
			return nil
		}
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM postings
				WHERE segment IN (SELECT id FROM segments WHERE dataset = $1)`, d.id)
		}
		for _, table := range [...]string{"vectors", "chunks", "metadata", "documents", "segments"} {
			if err == nil {
				_, err = tx.Exec(ctx, `DELETE FROM `+table+` WHERE dataset = $1`, d.id)
			}
		}
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM datasets WHERE id = $1`, d.id)
		}
		return err
	}))
}

// tx runs f in a transaction.
func (x *Index) tx(ctx context.Context, f func(pgx.Tx) error) error {
	return full(pgx.BeginFunc(ctx, x.pool, f))
}

// full recognizes the error of a server whose disk is full, or that only reads.
func full(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && (refused.Code == "53100" || refused.Code == "25006") {
		return fmt.Errorf("%w: %w", index.ErrFull, err)
	}
	return err
}

// snapshot runs f on one state of the database.
func (x *Index) snapshot(ctx context.Context, f func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, x.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
}

// dataset is a row of the table.
type dataset struct {
	id            int64
	key           string
	settings      index.Settings
	dims          int
	chunks, words int64
}

// hash returns the key of a term of a dataset.
func (d *dataset) hash(term string) int64 {
	return int64(xxhash.Sum64String(strconv.FormatInt(d.id, 36) + "/" + term))
}

const datasetColumns = `id, key, settings, dims, chunks, words`

// lockDataset reads a dataset that nothing else changes until the transaction ends.
func lockDataset(ctx context.Context, tx pgx.Tx, key string) (*dataset, error) {
	d, err := scanDataset(tx.QueryRow(ctx, `SELECT `+datasetColumns+` FROM datasets WHERE key = $1 FOR UPDATE`, key))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, index.ErrNoDataset
	}
	return d, err
}

func scanDataset(row pgx.Row) (*dataset, error) {
	d := &dataset{}
	var settings string
	if err := row.Scan(&d.id, &d.key, &settings, &d.dims, &d.chunks, &d.words); err != nil {
		return nil, err
	}
	return d, json.Unmarshal([]byte(settings), &d.settings)
}

// readDatasets reads datasets by their keys, each once.
func readDatasets(ctx context.Context, tx pgx.Tx, keys ...string) ([]*dataset, error) {
	var out []*dataset
	seen := map[string]bool{}
	for _, key := range keys {
		if seen[key] {
			continue
		}
		seen[key] = true
		d, err := scanDataset(tx.QueryRow(ctx, `SELECT `+datasetColumns+` FROM datasets WHERE key = $1`, key))
		if errors.Is(err, pgx.ErrNoRows) {
			err = index.ErrNoDataset
		}
		if err != nil {
			return nil, index.DatasetError(key, err)
		}
		out = append(out, d)
	}
	return out, nil
}

func ids(datasets []*dataset) []int64 {
	out := make([]int64, len(datasets))
	for i, d := range datasets {
		out[i] = d.id
	}
	return out
}
