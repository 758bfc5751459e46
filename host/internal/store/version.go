package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// Version is a former or present DSL of a canvas. The newest
// [Config].KeepVersions are kept.
type Version struct {
	ID          string
	Canvas      string
	Number      int64 // 1, 2, 3 ... within the canvas; gaps never
	Title       string
	Description string
	Hash        string // SHA-256 of DSL, hex
	DSL         []byte
	CreateTime  int64 // Unix milliseconds
}

const versionColumns = `id, canvas_id, number, title, description, hash, dsl, create_time`

func scanVersion(r row) (Version, error) {
	var v Version
	err := r.Scan(&v.ID, &v.Canvas, &v.Number, &v.Title, &v.Description, &v.Hash, &v.DSL, &v.CreateTime)
	return v, err
}

// addVersion stores the canvas's DSL as its newest version unless the newest
// one has the same content, and drops those beyond the limit. The caller has
// changed the canvas's row in this transaction, so no other host adds one.
func (s *Store) addVersion(ctx context.Context, q querier, c Canvas, title string) error {
	sum := sha256.Sum256(c.DSL)
	hash := hex.EncodeToString(sum[:])
	newest, err := queryAll(ctx, q, scanVersion,
		`SELECT `+versionColumns+` FROM versions WHERE canvas_id = $1 ORDER BY number DESC LIMIT 1`, c.ID)
	if err != nil {
		return err
	}
	number := int64(1)
	if len(newest) == 1 {
		if newest[0].Hash == hash {
			return nil
		}
		number = newest[0].Number + 1
	}
	const insert = `INSERT INTO versions (` + versionColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	_, err = q.ExecContext(ctx, insert, newID(), c.ID, number, printable(title), "", hash, bytesOf(c.DSL), c.UpdateTime)
	if err != nil {
		return err
	}
	_, err = q.ExecContext(ctx, `DELETE FROM versions WHERE canvas_id = $1 AND number <= $2`, c.ID, number-int64(s.keep))
	return err
}

// Versions lists the versions of a canvas, newest first.
func (s *Store) Versions(ctx context.Context, tenant, canvas string) ([]Version, error) {
	const query = `SELECT ` + versionColumns + ` FROM versions WHERE canvas_id = $1
		AND EXISTS (SELECT 1 FROM canvases WHERE canvases.id = $1 AND canvases.tenant_id = $2)
		ORDER BY number DESC`
	out, err := queryAll(ctx, s.read, scanVersion, query, canvas, tenant)
	return out, fail(err, "versions of canvas %q", canvas)
}

// Version reads one version by its own id. Errors: [ErrNotFound].
func (s *Store) Version(ctx context.Context, tenant, id string) (Version, error) {
	const query = `SELECT ` + versionColumns + ` FROM versions WHERE id = $1
		AND EXISTS (SELECT 1 FROM canvases WHERE canvases.id = versions.canvas_id AND canvases.tenant_id = $2)`
	v, err := scanVersion(s.read.QueryRowContext(ctx, query, id, tenant))
	return v, fail(err, "version %q", id)
}
