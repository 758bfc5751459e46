package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// schemaVersion of the tables below.
const schemaVersion = 4

// schema creates the tables; %s is the type of vectors.
const schema = `
CREATE TABLE layout (version int NOT NULL, pgvector boolean NOT NULL);
CREATE TABLE datasets (
	id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key      text NOT NULL UNIQUE,
	settings text NOT NULL,
	dims     int NOT NULL DEFAULT 0,
	chunks   bigint NOT NULL DEFAULT 0,
	words    bigint NOT NULL DEFAULT 0 -- the sum of the lengths of chunks
);
CREATE TABLE documents (
	id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	dataset bigint NOT NULL,
	key     text NOT NULL,
	name    text NOT NULL,
	meta    text NOT NULL,
	version bigint NOT NULL,
	access  text NOT NULL DEFAULT '', -- who may read it
	UNIQUE (dataset, key)
);
CREATE TABLE metadata (
	dataset  bigint NOT NULL,
	document bigint NOT NULL,
	key      text NOT NULL,
	value    text NOT NULL
);
CREATE INDEX metadata_dataset ON metadata (dataset);
CREATE INDEX metadata_document ON metadata (document);
CREATE TABLE chunks (
	id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	dataset  bigint NOT NULL,
	document bigint NOT NULL,
	key      text NOT NULL,
	content  text NOT NULL,  -- without what PostgreSQL cannot store
	body     bytea NOT NULL, -- the chunk as JSON, without its content unless that differs
	enabled  boolean NOT NULL,
	extra    bytea,
	length   int NOT NULL, -- in words
	UNIQUE (document, key)
);
CREATE INDEX chunks_dataset ON chunks (dataset);
CREATE TABLE vectors (
	chunk   bigint PRIMARY KEY,
	dataset bigint NOT NULL,
	vector  %s NOT NULL -- of length 1
);
CREATE INDEX vectors_dataset ON vectors (dataset);
CREATE TABLE segments (
	id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	dataset bigint NOT NULL,
	first   bigint NOT NULL, -- chunk; those of the segments of a dataset do not overlap
	last    bigint NOT NULL,
	size    int NOT NULL,
	data    bytea NOT NULL,            -- chunks, documents and lengths
	codes   bytea NOT NULL DEFAULT '', -- of vectors
	dead    bigint[] NOT NULL DEFAULT '{}', -- removed chunks
	hidden  bigint[] NOT NULL DEFAULT '{}'  -- chunks that are not enabled
);
CREATE INDEX segments_dataset ON segments (dataset, first);
CREATE TABLE postings (
	segment bigint NOT NULL,
	term    bigint NOT NULL, -- hash of a term of the dataset
	data    bytea NOT NULL,
	PRIMARY KEY (segment, term)
);
ALTER TABLE postings ALTER data SET STORAGE EXTERNAL; -- it does not become smaller`

// ErrVersion means that the tables are of another version of the program; drop their schema, and
// the index is made again from the records.
var ErrVersion = errors.New("index is of another version")

// prepare creates missing tables and detects the capabilities of the database. Hosts that start at
// once wait for each other.
func (x *Index) prepare(ctx context.Context, schemaName string) error {
	name := pgx.Identifier{schemaName}.Sanitize()
	extension, reason := x.extension(ctx)
	err := x.tx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('easel_index', 0))`)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+name); err != nil {
			return err
		}
		var there bool
		if err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, name+".layout").Scan(&there); err != nil {
			return err
		}
		if !there {
			if err := create(ctx, tx, extension != ""); err != nil {
				return err
			}
		}
		var version int
		err = tx.QueryRow(ctx, `SELECT version, pgvector FROM layout`).Scan(&version, &x.pgvector)
		if err == nil && version != schemaVersion {
			err = fmt.Errorf("%w: schema %s is %d, want %d; drop it", ErrVersion, name, version, schemaVersion)
		}
		return err
	})
	if err != nil {
		return err
	}
	var server string
	if err := x.pool.QueryRow(ctx, `SHOW server_version`).Scan(&server); err != nil {
		return err
	}
	server, _, _ = strings.Cut(server, " ")
	switch {
	case x.pgvector:
		x.about = fmt.Sprintf("PostgreSQL %s, vectors by pgvector %s", server, extension)
	case extension != "":
		x.about = fmt.Sprintf("PostgreSQL %s, vectors compared by the host (made before pgvector was there; "+
			"drop schema %s to use it)", server, name)
	default:
		x.about = fmt.Sprintf("PostgreSQL %s, vectors compared by the host (%s)", server, reason)
	}
	return nil
}

// extension returns the version of pgvector, which is installed if the server has it, or the reason
// why not.
func (x *Index) extension(ctx context.Context) (version, reason string) {
	const installed = `SELECT extversion FROM pg_extension WHERE extname = 'vector'`
	if x.pool.QueryRow(ctx, installed).Scan(&version) == nil {
		return version, ""
	}
	if _, err := x.pool.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS vector`); err != nil {
		return "", "no pgvector: " + err.Error()
	}
	if err := x.pool.QueryRow(ctx, installed).Scan(&version); err != nil {
		return "", "no pgvector: " + err.Error()
	}
	return version, ""
}

func create(ctx context.Context, tx pgx.Tx, pgvector bool) error {
	kind := "bytea"
	if pgvector {
		kind = "vector"
	}
	if _, err := tx.Exec(ctx, fmt.Sprintf(schema, kind)); err != nil {
		return fmt.Errorf("create tables: %w", err)
	}
	_, err := tx.Exec(ctx, `INSERT INTO layout VALUES ($1, $2)`, schemaVersion, pgvector)
	return err
}
