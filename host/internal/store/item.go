package store

import (
	"context"
	"fmt"
)

// Item is a small named document of some kind: an installed plugin, a model provider, an MCP
// server, the description of an uploaded file. Data that needs no special queries is stored as
// items instead of in a separate table.
type Item struct {
	Tenant     string
	Kind       string // plugin, provider, mcp, file ...; defined by the package that uses it
	ID         string
	Name       string
	Repeats    bool   // other items of the kind may have the same name
	Doc        []byte // JSON, stored as is
	Secret     []byte // keys and tokens, stored sealed; must not appear in responses, events or logs
	Rev        int64  // incremented by each change
	CreateTime int64  // Unix milliseconds
	UpdateTime int64  // Unix milliseconds
}

// Items has the small named documents of tenants.
type Items struct{ *database }

const itemColumns = `tenant_id, kind, id, name, doc, sealed, rev, create_time, update_time`

// scan reads an item and opens its sealed part.
func (s Items) scan(r row) (Item, error) {
	var v Item
	var sealed []byte
	err := r.Scan(&v.Tenant, &v.Kind, &v.ID, &v.Name, &v.Doc, &sealed, &v.Rev, &v.CreateTime, &v.UpdateTime)
	if err == nil && len(sealed) > 0 {
		v.Secret, err = s.seal.open(sealed, "item", v.Tenant, v.Kind, v.ID)
	}
	return v, err
}

// Put writes an item: Rev 0 adds it (an empty ID is filled in), any other Rev replaces exactly
// that revision. It returns the stored item.
//
// Errors: [ErrExists] if the id, or a name that must be unique, is taken; [ErrConflict];
// [ErrInvalid].
func (s Items) Put(ctx context.Context, v Item) (Item, error) {
	if v.ID == "" {
		v.ID = NewID()
	}
	AuditObject(ctx, v.ID)
	what := fmt.Sprintf("put %s %q", v.Kind, v.Name)
	if err := checkText("id", v.ID, "name", v.Name); err != nil {
		return Item{}, fail(err, "%s", what)
	}
	name := []byte(fold(v.Name))
	if v.Repeats {
		// Names cannot contain a zero byte, so this is unique.
		name = []byte("\x00" + v.ID)
	}
	var sealed []byte
	if len(v.Secret) > 0 {
		var err error
		if sealed, err = s.seal.close(v.Secret, "item", v.Tenant, v.Kind, v.ID); err != nil {
			return Item{}, fail(err, "%s", what)
		}
	}
	const insert = `INSERT INTO items (` + itemColumns + `, name_fold) VALUES ($1, $2, $3, $4, $5, $8, 1, $6, $6, $7)
		RETURNING ` + itemColumns
	const update = `UPDATE items SET name = $4, doc = $5, sealed = $8, rev = rev + 1, update_time = $6, name_fold = $7
		WHERE tenant_id = $1 AND kind = $2 AND id = $3 AND rev = $9 RETURNING ` + itemColumns
	var kept []Item
	err := s.write(ctx, what, func(ctx context.Context, q querier) (err error) {
		args := []any{v.Tenant, v.Kind, v.ID, v.Name, bytesOf(v.Doc), s.ms(), name, bytesOf(sealed)}
		if v.Rev == 0 {
			kept, err = queryAll(ctx, q, s.scan, insert, args...)
			return err
		}
		kept, err = queryAll(ctx, q, s.scan, update, append(args, v.Rev)...)
		if err == nil && len(kept) == 0 {
			return ErrConflict
		}
		return err
	})
	if err != nil {
		return Item{}, err
	}
	return kept[0], nil
}

// Get returns an item. Errors: [ErrNotFound].
func (s Items) Get(ctx context.Context, tenant, kind, id string) (Item, error) {
	const query = `SELECT ` + itemColumns + ` FROM items WHERE tenant_id = $1 AND kind = $2 AND id = $3`
	v, err := s.scan(s.read.QueryRowContext(ctx, query, tenant, kind, id))
	return v, fail(err, "%s %q", kind, id)
}

// Named returns the item with a unique name, ignoring case. Errors: [ErrNotFound].
func (s Items) Named(ctx context.Context, tenant, kind, name string) (Item, error) {
	const query = `SELECT ` + itemColumns + ` FROM items WHERE tenant_id = $1 AND kind = $2 AND name_fold = $3`
	v, err := s.scan(s.read.QueryRowContext(ctx, query, tenant, kind, []byte(fold(name))))
	return v, fail(err, "%s named %q", kind, name)
}

// List returns the items of a kind of a tenant, oldest first.
func (s Items) List(ctx context.Context, tenant, kind string) ([]Item, error) {
	const query = `SELECT ` + itemColumns + ` FROM items WHERE tenant_id = $1 AND kind = $2 ORDER BY create_time, id`
	out, err := queryAll(ctx, s.read, s.scan, query, tenant, kind)
	return out, fail(err, "list %s", kind)
}

// ListAll returns the items of a kind of all tenants, in no order.
func (s Items) ListAll(ctx context.Context, kind string) ([]Item, error) {
	const query = `SELECT ` + itemColumns + ` FROM items WHERE kind = $1`
	out, err := queryAll(ctx, s.read, s.scan, query, kind)
	return out, fail(err, "list %s of all tenants", kind)
}

// Delete removes an item. Errors: [ErrNotFound].
func (s Items) Delete(ctx context.Context, tenant, kind, id string) error {
	return s.writeAlways(ctx, fmt.Sprintf("delete %s %q", kind, id), func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, `DELETE FROM items WHERE tenant_id = $1 AND kind = $2 AND id = $3`, tenant, kind, id)
		return changed(res, err, ErrNotFound)
	})
}
