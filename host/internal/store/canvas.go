package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Canvas is a saved agent.
type Canvas struct {
	ID          string
	Tenant      string
	User        string // creator
	Title       string
	Description string
	Avatar      string // data URL or base64 text
	Type        string // canvas_type of the original
	Category    string // agent_canvas or dataflow_canvas
	Permission  string // me or team
	Tags        []string
	DSL         []byte // the document, stored byte for byte
	Rev         int64  // incremented by each change
	CreateTime  int64  // Unix milliseconds
	UpdateTime  int64  // Unix milliseconds
	Author      string // wrote the document; its creator at first
	Project     string // see [access.Object]
	Publication

	// Version is the id of the version that the document is of; "" for the saved document. It is
	// not stored.
	Version string
}

// Access returns whose the canvas is, for [access.Viewer.Check].
func (c *Canvas) Access() access.Object {
	return access.Object{
		Tenant: c.Tenant, Owner: c.User, Team: c.Permission == PermissionTeam, Kind: access.Canvas, ID: c.ID,
		Project: c.Project,
	}
}

// canvasAccess are the columns of [scanAccess].
const canvasAccess = `id, tenant_id, user_id, permission, project`

// scanAccess reads whose a canvas is, and further columns.
func scanAccess(r row, more ...any) (access.Object, error) {
	var c Canvas
	err := r.Scan(append([]any{&c.ID, &c.Tenant, &c.User, &c.Permission, &c.Project}, more...)...)
	return c.Access(), err
}

// Permissions of canvases.
const (
	PermissionMe   = "me"
	PermissionTeam = "team"
)

// Canvases has the records of canvases and their versions.
type Canvases struct{ *database }

const canvasColumns = `id, tenant_id, user_id, title, description, avatar, type, category, permission,
	tags, dsl, rev, create_time, update_time, released, published, publish_time, version_title, author,
	publisher, project`

func scanCanvas(r row) (Canvas, error) {
	var c Canvas
	var tags string
	err := r.Scan(&c.ID, &c.Tenant, &c.User, &c.Title, &c.Description, &c.Avatar, &c.Type, &c.Category,
		&c.Permission, &tags, &c.DSL, &c.Rev, &c.CreateTime, &c.UpdateTime, &c.Released, &c.Published, &c.PublishTime,
		&c.VersionTitle, &c.Author, &c.Publisher, &c.Project)
	if err != nil {
		return Canvas{}, err
	}
	return c, json.Unmarshal([]byte(tags), &c.Tags)
}

// check completes a canvas, which belongs to its creator unless it is shared.
func (c *Canvas) check() error {
	c.Permission = cmp.Or(c.Permission, PermissionMe)
	if c.Permission != PermissionMe && c.Permission != PermissionTeam {
		return fmt.Errorf("permission %.40q (one of me, team): %w", c.Permission, ErrInvalid)
	}
	return checkText("id", c.ID, "title", c.Title, "description", c.Description, "avatar", c.Avatar,
		"type", c.Type, "category", c.Category, "permission", c.Permission, "author", c.Author, "project", c.Project)
}

func (c *Canvas) tags() (string, error) {
	if c.Tags == nil {
		c.Tags = []string{}
	}
	b, err := json.Marshal(c.Tags)
	return string(b), err
}

// Create adds a canvas and, if versionTitle is not empty, its first version, which is published by
// the creator if c is Released. An empty ID is filled in. It returns the stored canvas.
//
// Errors: [ErrExists] if the id is taken, [ErrNotFound] for the project, [ErrInvalid].
func (s Canvases) Create(ctx context.Context, c Canvas, versionTitle string) (Canvas, error) {
	if c.ID == "" {
		c.ID = NewID()
	}
	AuditObject(ctx, c.ID)
	c.Rev, c.CreateTime = 1, s.ms()
	c.UpdateTime = c.CreateTime
	if err := c.check(); err != nil {
		return Canvas{}, fail(err, "create canvas %q", c.Title)
	}
	tags, err := c.tags()
	if err != nil {
		return Canvas{}, fail(err, "create canvas %q", c.Title)
	}
	publish := c.Released && versionTitle != ""
	c.Publication, c.Author = Publication{}, c.User
	after := c.Publication
	const insert = `INSERT INTO canvases (` + canvasColumns + `, title_fold, find)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0, '', 0, '', $3, '', $17, $15, $16)`
	err = s.write(ctx, fmt.Sprintf("create canvas %q", c.Title), func(ctx context.Context, q querier) error {
		if err := inProject(ctx, q, s.engine, c.Tenant, c.Project); err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, `DELETE FROM deleted_canvases WHERE id = $1`, c.ID); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, insert, c.ID, c.Tenant, c.User, c.Title, c.Description, c.Avatar, c.Type,
			c.Category, c.Permission, tags, bytesOf(c.DSL), c.Rev, c.CreateTime, c.UpdateTime,
			[]byte(fold(c.Title)), fold(c.Title), c.Project)
		if err != nil || versionTitle == "" {
			return err
		}
		after, err = s.addVersion(ctx, q, c, versionTitle, publication{publish, c.User})
		return err
	})
	if err != nil {
		return Canvas{}, err
	}
	c.Publication = after
	return c, nil
}

// Get returns a canvas of a tenant. Errors: [ErrNotFound].
func (s Canvases) Get(ctx context.Context, tenant, id string) (Canvas, error) {
	const query = `SELECT ` + canvasColumns + ` FROM canvases WHERE id = $1 AND tenant_id = $2`
	c, err := scanCanvas(s.read.QueryRowContext(ctx, query, id, tenant))
	return c, fail(err, "canvas %q", id)
}

// Revision is the revision of a canvas with its update time, Unix milliseconds, and whose it is
// then.
type Revision struct {
	Rev, Updated int64
	Access       access.Object
}

const revisionColumns = canvasAccess + `, rev, update_time`

func scanRevision(r row) (id string, v Revision, err error) {
	v.Access, err = scanAccess(r, &v.Rev, &v.Updated)
	return v.Access.ID, v, err
}

// Revision returns the revision of a canvas without its document. Errors: [ErrNotFound].
func (s Canvases) Revision(ctx context.Context, tenant, id string) (Revision, error) {
	const query = `SELECT ` + revisionColumns + ` FROM canvases WHERE id = $1 AND tenant_id = $2`
	_, v, err := scanRevision(s.read.QueryRowContext(ctx, query, id, tenant))
	return v, fail(err, "canvas %q", id)
}

// Access returns whose a canvas is, or was when it was deleted: its runs and sessions remain.
// Errors: [ErrNotFound].
func (s Canvases) Access(ctx context.Context, tenant, id string) (access.Object, error) {
	const query = `SELECT ` + canvasAccess + ` FROM canvases WHERE id = $1 AND tenant_id = $2
		UNION ALL SELECT ` + canvasAccess + ` FROM deleted_canvases WHERE id = $1 AND tenant_id = $2 LIMIT 1`
	v, err := scanAccess(s.read.QueryRowContext(ctx, query, id, tenant))
	return v, fail(err, "canvas %q", id)
}

// mostRevisions is the most canvases of one query for revisions.
const mostRevisions = 1000

// Revisions returns the revisions of canvases of any tenant by id, of those that exist.
func (s Canvases) Revisions(ctx context.Context, ids []string) (map[string]Revision, error) {
	found := make(map[string]Revision, len(ids))
	for some := range slices.Chunk(ids, mostRevisions) {
		marks, args := make([]string, len(some)), make([]any, len(some))
		for i, id := range some {
			marks[i], args[i] = "$"+strconv.Itoa(i+1), id
		}
		query := `SELECT ` + revisionColumns + ` FROM canvases WHERE id IN (` + strings.Join(marks, ", ") + `)`
		scan := func(r row) (string, error) {
			id, v, err := scanRevision(r)
			if err == nil {
				found[id] = v
			}
			return id, err
		}
		if _, err := queryAll(ctx, s.read, scan, query, args...); err != nil {
			return nil, fail(err, "revisions of %d canvases", len(ids))
		}
	}
	return found, nil
}

// TenantOf returns the tenant of a canvas, for requests that contain only the id, such as a
// webhook. Errors: [ErrNotFound].
func (s Canvases) TenantOf(ctx context.Context, id string) (string, error) {
	var tenant string
	err := s.read.QueryRowContext(ctx, `SELECT tenant_id FROM canvases WHERE id = $1`, id).Scan(&tenant)
	return tenant, fail(err, "canvas %q", id)
}

// editPatience bounds the retries of an edit on newer state, and mostEditWait the pause before a
// retry, which is random so that concurrent writers do not retry in step.
const (
	editPatience = 10 * time.Second
	mostEditWait = 64 * time.Millisecond
)

// Edit reads a canvas, applies change and writes it back over the same revision. If another
// writer was faster, change is applied again to the new state, so no change is lost. Changes of ID,
// Tenant, Rev and times are ignored. A versionTitle that is not empty adds a version if the DSL
// differs from the newest one; the version is published in the same commit if change sets Released,
// which is false when change is called, and Publisher.
//
// Errors: [ErrNotFound], [ErrConflict] after ten seconds of retries, and any error of change, in
// which case nothing is written.
func (s Canvases) Edit(
	ctx context.Context, tenant, id, versionTitle string, change func(*Canvas) error,
) (Canvas, error) {
	began := time.Now()
	for wait := time.Millisecond; ; wait = min(2*wait, mostEditWait) {
		c, err := s.Get(ctx, tenant, id)
		if err != nil {
			return Canvas{}, err
		}
		next := c
		next.Released = false
		if err := change(&next); err != nil {
			return Canvas{}, err
		}
		publish := publication{next.Released && versionTitle != "", next.Publisher}
		next.ID, next.Tenant, next.CreateTime, next.Publication = c.ID, c.Tenant, c.CreateTime, c.Publication
		next.Rev, next.UpdateTime = c.Rev+1, s.ms()
		next, err = s.replace(ctx, next, c, versionTitle, publish)
		if !errors.Is(err, ErrConflict) {
			return next, err
		}
		if time.Since(began) > editPatience {
			return Canvas{}, err
		}
		select {
		case <-ctx.Done():
			return Canvas{}, ctx.Err()
		case <-time.After(rand.N(wait)):
		}
	}
}

// replace writes c over the revision of former and returns the stored canvas.
func (s Canvases) replace(
	ctx context.Context, c, former Canvas, versionTitle string, publish publication,
) (Canvas, error) {
	if err := c.check(); err != nil {
		return Canvas{}, fail(err, "save canvas %q", c.ID)
	}
	tags, err := c.tags()
	if err != nil {
		return Canvas{}, fail(err, "save canvas %q", c.ID)
	}
	const update = `UPDATE canvases SET user_id = $1, title = $2, title_fold = $3, find = $4, description = $5,
		avatar = $6, type = $7, category = $8, permission = $9, tags = $10, dsl = $11, rev = $12,
		update_time = $13, author = $14, project = $17 WHERE id = $15 AND rev = $16`
	after := c.Publication
	err = s.write(ctx, fmt.Sprintf("save canvas %q", c.ID), func(ctx context.Context, q querier) error {
		if c.Project != former.Project {
			if err := inProject(ctx, q, s.engine, c.Tenant, c.Project); err != nil {
				return err
			}
		}
		res, err := q.ExecContext(ctx, update, c.User, c.Title, []byte(fold(c.Title)), fold(c.Title), c.Description,
			c.Avatar, c.Type, c.Category, c.Permission, tags, bytesOf(c.DSL), c.Rev, c.UpdateTime, c.Author,
			c.ID, former.Rev, c.Project)
		if err := changed(res, err, ErrConflict); err != nil || versionTitle == "" {
			return err
		}
		after, err = s.addVersion(ctx, q, c, versionTitle, publish)
		return err
	})
	if err != nil {
		return Canvas{}, err
	}
	c.Publication = after
	return c, nil
}

// Delete removes a canvas with its versions and beta tokens. Sessions and run history remain.
// Errors: [ErrNotFound].
func (s Canvases) Delete(ctx context.Context, tenant, id string) error {
	return s.writeAlways(ctx, fmt.Sprintf("delete canvas %q", id), func(ctx context.Context, q querier) error {
		// Whose it was decides about its runs and sessions.
		const keep = `INSERT INTO deleted_canvases (` + canvasAccess + `, delete_time)
			SELECT ` + canvasAccess + `, CAST($3 AS BIGINT) FROM canvases
			WHERE id = $1 AND tenant_id = $2 ON CONFLICT DO NOTHING`
		if _, err := q.ExecContext(ctx, keep, id, tenant, s.ms()); err != nil {
			return err
		}
		res, err := q.ExecContext(ctx, `DELETE FROM canvases WHERE id = $1 AND tenant_id = $2`, id, tenant)
		if err := changed(res, err, ErrNotFound); err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, `DELETE FROM versions WHERE canvas_id = $1`, id); err != nil {
			return err
		}
		if _, err = q.ExecContext(ctx, `DELETE FROM betas WHERE canvas_id = $1`, id); err != nil {
			return err
		}
		if err := Waits(s).cancel(
			ctx, q, "the canvas was deleted", `canvas_id = $1 AND tenant_id = $2`, id, tenant,
		); err != nil {
			return err
		}
		return dropGrants(ctx, q, tenant, access.Object{Kind: access.Canvas, ID: id})
	})
}

// CanvasFilter selects canvases; other empty fields match all.
type CanvasFilter struct {
	Viewer     access.Viewer // who may use them; required
	User       string        // creator
	ID         string
	Title      string // exact, case-insensitive
	Categories []string
	Types      []string
	Keywords   string // substring of the title, case-insensitive
	Permission string
	Project    *string  // nil matches all
	Tags       []string // at least one of them; tags must not contain a comma
}

var canvasList = listing[Canvas]{table: "canvases", columns: canvasColumns, large: []string{"dsl"}, scan: scanCanvas, order: map[string]string{
	"create_time": "create_time", "create_date": "create_time",
	"update_time": "update_time", "update_date": "update_time",
	"title": "title_fold", "id": "id",
}}

// List returns a page of the canvases that a viewer may use and the number of all that match.
// The order is create_time, update_time, title or id.
func (s Canvases) List(ctx context.Context, f CanvasFilter, p Page) ([]Canvas, int, error) {
	if f.Viewer.Tenant == "" {
		return nil, 0, fail(ErrInvalid, "list canvases: no tenant")
	}
	w := where{changing: true} // canvases can be edited
	w.equal("tenant_id", f.Viewer.Tenant)
	w.usable(f.Viewer, access.ViewerRole, canvasRights)
	w.equal("user_id", f.User)
	w.equal("id", f.ID)
	w.equal("permission", f.Permission)
	if f.Project != nil {
		w.add("project = ?", *f.Project)
	}
	if f.Title != "" {
		w.add("title_fold = ?", []byte(fold(f.Title)))
	}
	w.in("category", f.Categories)
	w.in("type", f.Types)
	w.contains("find", f.Keywords)
	if err := w.tagged(f.Tags); err != nil {
		return nil, 0, fail(err, "list canvases")
	}
	if f.ID == "" && f.Title == "" && len(f.Types) == 0 && f.Keywords == "" && len(f.Tags) == 0 {
		w.count = f.count
	}
	return list(ctx, s.database, &canvasList, &w, p)
}

// count returns the number of canvases by the numbers of their groups.
func (f *CanvasFilter) count(ctx context.Context, q querier) (int, error) {
	of := groups{table: "canvases", rights: canvasRights, viewer: f.Viewer}
	of.also = func(w *where, group bool) {
		if group {
			w.equal("owner", f.User)
		} else {
			w.equal("user_id", f.User)
			w.equal("permission", f.Permission)
		}
		if group && f.Permission != "" {
			w.add("shared = ?", flag(f.Permission == "team"))
		}
		if f.Project != nil {
			w.add("project = ?", *f.Project)
		}
		w.in("category", f.Categories)
	}
	return of.count(ctx, q)
}

// tagged adds the condition that the JSON array in column tags contains at least one of tags.
// Quotes inside a tag are escaped in JSON, so a quote after a comma always starts a tag.
func (w *where) tagged(tags []string) error {
	if len(tags) == 0 {
		return nil
	}
	const holds = `REPLACE(',' || SUBSTR(tags, 2), ?, '') <> ',' || SUBSTR(tags, 2)`
	args := make([]any, len(tags))
	for i, tag := range tags {
		if strings.Contains(tag, ",") {
			return fmt.Errorf("tag %.40q has a comma: %w", tag, ErrInvalid)
		}
		text, err := json.Marshal(tag)
		if err != nil {
			return err
		}
		args[i] = "," + string(text)
	}
	w.add("("+strings.Repeat(holds+" OR ", len(tags)-1)+holds+")", args...)
	return nil
}
