package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Version is a current or earlier DSL of a canvas. The newest [Config].KeepVersions are kept, and
// all that were ever published.
type Version struct {
	ID          string
	Canvas      string
	Number      int64 // 1, 2, 3 ... within the canvas, with gaps for dropped versions
	Title       string
	Description string
	Hash        string // SHA-256 of DSL, hex
	DSL         []byte
	CreateTime  int64  // Unix milliseconds
	PublishTime int64  // last publication, Unix milliseconds; 0 for never
	User        string // wrote its document; "" if unknown
}

const versionColumns = `id, canvas_id, number, title, description, hash, dsl, create_time, publish_time, user_id`

func scanVersion(r row) (Version, error) {
	var v Version
	err := r.Scan(&v.ID, &v.Canvas, &v.Number, &v.Title, &v.Description, &v.Hash, &v.DSL, &v.CreateTime, &v.PublishTime,
		&v.User)
	return v, err
}

// addVersion stores the DSL of a canvas as its newest version unless the newest one has the same
// content, drops versions over the limit, and publishes the version if publish is set. It returns
// the resulting publication. The caller has updated the row of the canvas in this transaction, so
// no other host adds a version concurrently.
func (s Canvases) addVersion(
	ctx context.Context, q querier, c Canvas, title string, publish publication,
) (Publication, error) {
	now := c.Publication
	sum := sha256.Sum256(c.DSL)
	v := Version{ID: NewID(), Number: 1, Title: printable(title), Hash: hex.EncodeToString(sum[:])}
	newest, err := queryAll(ctx, q, scanVersion,
		`SELECT `+versionColumns+` FROM versions WHERE canvas_id = $1 ORDER BY number DESC LIMIT 1`, c.ID)
	if err != nil {
		return now, err
	}
	for _, n := range newest { // at most one
		v.Number = n.Number + 1
		if n.Hash == v.Hash {
			v = n
		}
	}
	if v.Canvas == "" {
		if err := s.insertVersion(ctx, q, c, v); err != nil {
			return now, err
		}
	}
	now.VersionTitle, now.Released = v.Title, publish.publish || v.ID == now.Published
	if publish.publish {
		now.Published, now.PublishTime, now.Publisher = v.ID, c.UpdateTime, publish.by
		err = s.publish(ctx, q, c.ID, v.ID, publish.by, c.UpdateTime)
	}
	return now, err
}

// insertVersion adds the newest version of a canvas, unpublished.
func (s Canvases) insertVersion(ctx context.Context, q querier, c Canvas, v Version) error {
	const insert = `INSERT INTO versions (` + versionColumns + `) VALUES ($1, $2, $3, $4, '', $5, $6, $7, 0, $8)`
	_, err := q.ExecContext(ctx, insert, v.ID, c.ID, v.Number, v.Title, v.Hash, bytesOf(c.DSL), c.UpdateTime, c.Author)
	if err != nil {
		return err
	}
	const prune = `DELETE FROM versions WHERE canvas_id = $1 AND publish_time = 0 AND number <=
		(SELECT number FROM versions WHERE canvas_id = $1 AND publish_time = 0 ORDER BY number DESC LIMIT 1 OFFSET $2)`
	if _, err := q.ExecContext(ctx, prune, c.ID, s.keep); err != nil {
		return err
	}
	_, err = q.ExecContext(ctx, `UPDATE canvases SET version_title = $1, released = 0 WHERE id = $2`, v.Title, c.ID)
	return err
}

// Versions returns the versions of a canvas, newest first.
func (s Canvases) Versions(ctx context.Context, tenant, canvas string) ([]Version, error) {
	const query = `SELECT ` + versionColumns + ` FROM versions WHERE canvas_id = $1
		AND EXISTS (SELECT 1 FROM canvases WHERE canvases.id = $1 AND canvases.tenant_id = $2)
		ORDER BY number DESC`
	out, err := queryAll(ctx, s.read, scanVersion, query, canvas, tenant)
	return out, fail(err, "versions of canvas %q", canvas)
}

// Version returns a version by its id. Errors: [ErrNotFound].
func (s Canvases) Version(ctx context.Context, tenant, id string) (Version, error) {
	const query = `SELECT ` + versionColumns + ` FROM versions WHERE id = $1
		AND EXISTS (SELECT 1 FROM canvases WHERE canvases.id = versions.canvas_id AND canvases.tenant_id = $2)`
	v, err := scanVersion(s.read.QueryRowContext(ctx, query, id, tenant))
	return v, fail(err, "version %q", id)
}

// RenameVersion changes the title of a version. Errors: [ErrNotFound], also for a version of
// another canvas, [ErrInvalid].
func (s Canvases) RenameVersion(ctx context.Context, tenant, canvas, id, title string) error {
	if err := checkText("title", title); err != nil {
		return fail(err, "rename version %q", id)
	}
	const rename = `UPDATE versions SET title = $1 WHERE id = $2 AND canvas_id = $3
		AND EXISTS (SELECT 1 FROM canvases WHERE canvases.id = $3 AND canvases.tenant_id = $4)`
	const newest = `UPDATE canvases SET version_title = (SELECT title FROM versions WHERE canvas_id = $1
		ORDER BY number DESC LIMIT 1) WHERE id = $1`
	return s.write(ctx, fmt.Sprintf("rename version %q", id), func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, rename, title, id, canvas, tenant)
		if err := changed(res, err, ErrNotFound); err != nil {
			return err
		}
		_, err = q.ExecContext(ctx, newest, canvas)
		return err
	})
}
