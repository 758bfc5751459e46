package upload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Means is the origin of a file.
type Means string

// How files come to be.
const (
	ByMember  Means = "member"  // an upload with a key or a login
	ByVisitor Means = "visitor" // an upload of an embedding page
	ByWebhook Means = "webhook" // a part of a web request that started a run
	ByRun     Means = "run"     // written by a node
)

// AllCanvases is the Canvas of the token for all canvases of a tenant.
const AllCanvases = "*"

// Party is who stores and reads files. Members and their runs read all files of the tenant. A
// visitor of an embedding page, and a run of a conversation that belongs to one, read what was
// uploaded for this conversation and what its runs wrote.
type Party struct {
	Tenant  string
	By      Means
	Canvas  string        // of a page or a run
	Session string        // of a run
	Visitor store.Visitor // of a run, or what the request of a page proves; "" for members and for nothing proved
}

// Member returns the party of a member of a tenant.
func Member(tenant string) Party { return Party{Tenant: tenant, By: ByMember} }

// origin is the stored part of a party. A file of a former version has none: it belongs to members.
type origin struct {
	By      Means         `json:"by,omitempty"`
	Canvas  string        `json:"canvas,omitempty"`
	Session string        `json:"session,omitempty"`
	Visitor store.Visitor `json:"visitor,omitempty"`
}

// originKey is the member of a stored descriptor for the origin, which no caller sees.
const originKey = "origin"

// unnamed reports whether a file is the upload of a visitor that no question has named yet. Its id,
// which only the client that uploaded it has, is all that connects it with a visitor.
func (o origin) unnamed() bool { return o.By == ByVisitor && o.Visitor == "" }

// opensFor reports whether a party may read a file.
func (o origin) opensFor(p Party) bool {
	switch {
	case p.By != ByVisitor && p.Visitor == "":
		return true
	case o.Canvas == "" || o.Canvas != p.Canvas && p.Canvas != AllCanvases:
		return false
	}
	return o.unnamed() || o.Visitor != "" && o.Visitor == p.Visitor
}

// found is the record of a file.
type found struct {
	item       store.Item
	descriptor engine.Value // with what only the store has
	origin     origin
}

// item finds a file that a party may read. The first run that reads the upload of a visitor binds
// it to its conversation. Errors: [ErrNotFound], also for a file of another party.
func (b *Box) item(ctx context.Context, p Party, id string) (found, error) {
	for {
		f, err := b.find(ctx, p.Tenant, id)
		if err != nil {
			return f, err
		}
		if !f.origin.opensFor(p) {
			return found{}, missing(id)
		}
		if p.By != ByRun || p.Visitor == "" || !f.origin.unnamed() {
			return f, nil
		}
		f.origin.Visitor, f.origin.Session = p.Visitor, p.Session
		err = b.keep(ctx, &f)
		if !errors.Is(err, store.ErrConflict) {
			return f, err
		}
	}
}

// find reads the record of a file.
func (b *Box) find(ctx context.Context, tenant, id string) (f found, err error) {
	f.item, err = b.Store.Items.Get(ctx, tenant, kind, id)
	if errors.Is(err, store.ErrNotFound) {
		return f, missing(id)
	}
	if err == nil {
		f.descriptor, err = engine.ParseJSON(f.item.Doc)
	}
	if from := f.descriptor.Get(originKey); err == nil && !from.IsNull() {
		err = json.Unmarshal(from.AppendJSON(nil), &f.origin)
	}
	if err != nil {
		err = fmt.Errorf("file %q: %w", id, err)
	}
	return f, err
}

// keep stores the record of a file: a new one, or exactly the revision that was read. Errors: those
// of [store.Items.Put].
func (b *Box) keep(ctx context.Context, f *found) error {
	text, err := json.Marshal(f.origin)
	if err != nil {
		return err
	}
	from, err := engine.ParseJSON(text)
	if err != nil {
		return err
	}
	f.descriptor = f.descriptor.With(originKey, from)
	f.item.Doc, f.item.Repeats = f.descriptor.AppendJSON(nil), true
	f.item, err = b.Store.Items.Put(ctx, f.item)
	return err
}

func missing(id string) error { return fmt.Errorf("file %q: %w", id, ErrNotFound) }

// public returns the descriptor without what only the store has.
func (f *found) public() engine.Value { return f.descriptor.Without(originKey).Without(unreadable) }
