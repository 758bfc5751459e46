package app

import (
	"context"
	"strings"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Versions are the saved documents of canvases, of which one may be published.
type Versions struct {
	store    *store.Store
	canvases *Canvases
}

// List returns the versions of a canvas, newest first.
func (s *Versions) List(ctx context.Context, of Canvas) ([]Version, error) {
	return s.store.Canvases.Versions(ctx, of.Tenant, of.ID)
}

// Get finds a version of a canvas, or with "" of any, and reserves the memory to answer with it.
// Errors: [ErrNotFound].
func (s *Versions) Get(ctx context.Context, who Principal, canvas, id string) (Version, error) {
	v, err := s.store.Canvases.Version(ctx, who.Tenant, id)
	if err == nil && canvas != "" && v.Canvas != canvas {
		err = ErrNotFound
	}
	if err == nil {
		err = s.canvases.MayUse(ctx, who, v.Canvas)
	}
	if err != nil {
		return v, missing(err, "version")
	}
	return v, reserveDocument(ctx, v.DSL)
}

// Rename changes the title of a version and returns the version. Errors: [ErrNotFound], those of
// [Error].
func (s *Versions) Rename(ctx context.Context, who Principal, of Canvas, id, title string) (Version, error) {
	title = strings.TrimSpace(title)
	if n := len([]rune(title)); n == 0 || n > longestTitle {
		return Version{}, BadArgument("title of a version: %d characters, 1 to %d are accepted", n, longestTitle)
	}
	if err := s.store.Canvases.RenameVersion(ctx, of.Tenant, of.ID, id, title); err != nil {
		return Version{}, missing(err, "version")
	}
	return s.Get(ctx, who, of.ID, id)
}

// longestTitle bounds the title of a version, in characters.
const longestTitle = 200

// PublishDraft publishes a canvas as it is saved, under a title and on behalf of a principal; a rev
// that is not 0 must be the one that the canvas has. Errors: those of [Error].
func (s *Versions) PublishDraft(
	ctx context.Context, who Principal, of Canvas, rev int64, title string,
) (Canvas, error) {
	return s.store.Canvases.Edit(ctx, of.Tenant, of.ID, title, func(v *Canvas) error {
		if rev != 0 && v.Rev != rev {
			return errCanvasChanged
		}
		v.Released, v.Publisher = true, who.User
		return s.canvases.Check(v.DSL)
	})
}

// Publish publishes a version of a canvas on behalf of a principal. Errors: those of [Error].
func (s *Versions) Publish(ctx context.Context, who Principal, of Canvas, id string) (Canvas, error) {
	old, err := s.Get(ctx, who, of.ID, id)
	if err != nil {
		return of, err
	}
	if err := s.canvases.Check(old.DSL); err != nil {
		return of, err
	}
	v, err := s.store.Canvases.Publish(ctx, of.Tenant, of.ID, id, who.User)
	return v, missing(err, "version")
}
