// Package ragflow serves RAGFlow's agent API in three dialects: 0.23 at the root, 0.25 under /0.25
// and 0.27 under /0.27. All have the same handlers; where the dialects disagree on the same
// request, the presenter of its route decides.
package ragflow

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/login"
	"github.com/easel-canvas/easel/host/internal/api/openai"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/datasets"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/api/webhook"
	"github.com/easel-canvas/easel/host/internal/app"
)

// NewerPrefix is the prefix of the paths of the 0.27 dialect.
const NewerPrefix = "/0.27"

// MiddlePrefix is the prefix of the paths of the 0.25 dialect.
const MiddlePrefix = "/0.25"

// WithoutDialect returns a path without the prefix of a dialect.
func WithoutDialect(path string) string {
	for _, prefix := range []string{MiddlePrefix, NewerPrefix} {
		if rest, ok := strings.CutPrefix(path, prefix+"/"); ok {
			return "/" + rest
		}
	}
	return path
}

// Config configures the face; all of it is required.
type Config struct {
	Services *app.Services
	Login    *login.Face
	OpenAI   *openai.Face
	Webhooks *webhook.Face
	Version  string // of the host
}

// Routes returns the routes of all dialects.
func Routes(cfg Config) []api.Route {
	var list []api.Route
	for _, d := range []struct {
		prefix string
		presenter
	}{{"", presenter023{}}, {MiddlePrefix, presenter025{}}, {NewerPrefix, presenter027{}}} {
		for _, r := range dialectRoutes(&face{Config: cfg, presenter: d.presenter}) {
			r.Path = d.prefix + r.Path
			list = append(list, r)
		}
	}
	return list
}

// face is shared by the handlers of one dialect.
type face struct {
	Config
	presenter
}

// dialectRoutes are the routes of one dialect, without its prefix.
func dialectRoutes(f *face) []api.Route {
	list := slices.Concat(
		agents{f}.routes(), sessions{f}.routes(), completions{f}.routes(), editor{f}.routes(), versions{f}.routes(),
		bots{f}.routes(), files{f}.routes(), servers{f}.routes(), plugins{f}.routes(), tokens{f}.routes(),
		accounts{f}.routes(), system{f}.routes(), databases{f}.routes(), memories{f}.routes(), reruns{f}.routes(),
		datasets.Routes(f.Services, f.datasets()),
		f.Webhooks.Routes(f.notDeletable()), []api.Route{f.OpenAI.Agents(f.releases(true), failCompatible)},
	)
	for i := range list {
		r := &list[i]
		path := r.Path
		r.UnknownKey = func() error { return f.unknownKey(path) }
		if r.Need == api.NeedBeta {
			r.Fail = failEmbedded
		}
	}
	return list
}

// canvas finds a canvas of the principal; none is the error for one that is missing or another
// tenant's.
func (f *face) canvas(ctx context.Context, r *api.Request, id string, none error) (app.Canvas, error) {
	v, err := f.Services.Canvases.Get(ctx, r.Who, id)
	if errors.Is(err, app.ErrNotFound) {
		err = none
	}
	return v, err
}

// owned is canvas for what only the owner of a canvas may do.
func (f *face) owned(ctx context.Context, r *api.Request, id string) (app.Canvas, error) {
	return f.canvas(ctx, r, id, api.Refused(api.KindNotOwner, envelope.NotOwner))
}

// published reports whether a request selects the published version. In the 0.27 dialect saving a
// canvas with release publishes it, and a request with release gets the published version, also
// when the canvas has changed since. The older dialect ignores release.
func published(r *api.Request, p presenter) bool {
	return p.releases(true) && r.Body.Flag("release", r.Query.Asked("release", false))
}

// patch reads the changes of a canvas from a request.
func (f *face) patch(r *api.Request, dsl []byte) app.CanvasPatch {
	p := r.Body.CanvasPatch()
	p.DSL, p.Publish = dsl, f.releases(p.Publish)
	return p
}

// canvasRow is a canvas as the editor and the 0.27 dialect read it.
func (f *face) canvasRow(ctx context.Context, v app.Canvas) engine.Value {
	b := agentRow(v)
	b.Set("tenant_id", engine.String(v.Tenant))
	b.Set("nickname", engine.String(f.Services.Accounts.Nickname(ctx, v.User)))
	b.Set("tenant_avatar", engine.Null).Set("type", engine.String("agent"))
	b.Set("release", engine.Bool(v.Released)).Set("tags", engine.Strings(v.Tags...)).Set("last_publish_time", engine.Null)
	f.addPublication(b, v)
	return b.Value()
}

// titler returns how versions that a request makes are named.
func (f *face) titler(ctx context.Context, r *api.Request) func(title string) string {
	return func(title string) string {
		return f.versionTitle(title, func() string { return f.Services.Accounts.Nickname(ctx, r.Who.User) })
	}
}

// unique refuses a title that another canvas than except has already which the principal may use,
// in one category or, with "", in any.
func (f *face) unique(ctx context.Context, who app.Principal, title, category, except string) error {
	list, err := f.Services.Canvases.Titled(ctx, who, title, category)
	if err != nil {
		return err
	}
	for _, v := range list {
		if v.ID != except {
			if err := f.duplicate(v, title, category); err != nil {
				return err
			}
		}
	}
	return nil
}

// change writes the members of a request, and a document when there is one, over a canvas.
func (f *face) change(ctx context.Context, r *api.Request, old app.Canvas, dsl []byte) (app.Canvas, error) {
	p := f.patch(r, dsl)
	if err := r.Body.Valid(); err != nil {
		return old, err
	}
	return f.Services.Canvases.Edit(ctx, old, app.CanvasEdit{
		CanvasPatch: p, VersionTitle: f.titler(ctx, r), Author: r.Who,
		Unique: func(ctx context.Context, old, next app.Canvas) error {
			return f.unique(ctx, r.Who, next.Title, f.titleCategory(next.Category), old.ID)
		},
	})
}

// create stores the canvas of a request.
func (f *face) create(ctx context.Context, r *api.Request, dsl []byte) (app.Canvas, error) {
	p := f.patch(r, dsl)
	if err := r.Body.Valid(); err != nil {
		return app.Canvas{}, err
	}
	return f.Services.Canvases.Create(ctx, r.Who, p, f.titler(ctx, r))
}

// ok answers a value, or an error.
func ok(v engine.Value, err error) (api.Response, error) {
	if err != nil {
		return nil, err
	}
	return envelope.OK(v), nil
}

// done answers true, or an error.
func done(err error) (api.Response, error) { return ok(engine.Bool(true), err) }

// isEmbedPath reports whether a path is one that pages with an embed token call.
func isEmbedPath(path string) bool {
	return strings.Contains(path, "/agentbots/") || strings.Contains(path, "/getsse/")
}
