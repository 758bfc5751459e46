package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/memories"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Canvases are the documents of tenants.
type Canvases struct {
	store      *store.Store
	runs       *runs.Runs
	schedules  *schedule.Schedules
	registry   *engine.Registry
	forgetTask func(ctx context.Context, task string) error // nil when there is nothing to forget
	plugins    Plugins                                      // nil when there can be none
	datasets   *Datasets                                    // nil without datasets
	memories   *memories.Store
	sources    []string // names of datasets of other systems
	models     *model.Tenants
	projects   *Projects
}

// Values of canvases.
const (
	AgentCategory    = "agent_canvas"
	DataflowCategory = "dataflow_canvas"
)

// CanvasPatch is a partial update of a canvas; nil leaves a member as it is.
type CanvasPatch struct {
	Title, Description, Avatar, Type, Category, Permission, Project *string

	Tags *[]string

	DSL     []byte // the document; nil leaves it
	Publish bool   // the canvas as it is then
}

// apply writes the patch over a canvas, apart from the document.
func (p *CanvasPatch) apply(c *Canvas) {
	for _, member := range []struct {
		to   *string
		from *string
	}{
		{&c.Title, p.Title},
		{&c.Description, p.Description},
		{&c.Avatar, p.Avatar},
		{&c.Type, p.Type},
		{&c.Category, p.Category},
		{&c.Permission, p.Permission},
		{&c.Project, p.Project},
	} {
		if member.from != nil {
			*member.to = *member.from
		}
	}
	if p.Tags != nil {
		c.Tags = CleanTags(*p.Tags)
	}
	c.Title = strings.TrimSpace(c.Title)
	c.Released = p.Publish
}

// CanvasEdit changes a canvas.
type CanvasEdit struct {
	CanvasPatch
	// VersionTitle names the version that is made of a new document.
	VersionTitle func(title string) string
	// Unique refuses a new title; nil allows any.
	Unique func(ctx context.Context, old, next Canvas) error
	Rev    *int64    // the revision that is changed; nil changes any
	Author Principal // who makes the change
}

var errCanvasChanged = Refuse(CodeChanged, "the canvas has a newer revision; reload and retry")

func checkCanvas(c *Canvas) error {
	switch {
	case c.Title == "":
		return BadArgument("No title in request.")
	case len([]rune(c.Title)) > LongestTitle:
		return BadArgument("The title has more than %d characters.", LongestTitle)
	case c.Permission != store.PermissionMe && c.Permission != store.PermissionTeam:
		return BadArgument("permission must be me or team, not %.40q", c.Permission)
	}
	return nil
}

// Get finds a canvas that a principal may use, and reserves the memory to answer with it. Errors:
// [ErrNotFound].
func (s *Canvases) Get(ctx context.Context, who Principal, id string) (Canvas, error) {
	v, err := s.store.Canvases.Get(ctx, who.Tenant, id)
	if err == nil {
		err = who.check(v.Access())
	}
	if err != nil {
		return Canvas{}, missing(err, "canvas")
	}
	return v, reserveDocument(ctx, v.DSL)
}

// MayUse refuses what a request does with a canvas, or could not when it was deleted: its runs
// and sessions remain. Errors: [ErrNotFound].
func (s *Canvases) MayUse(ctx context.Context, who Principal, id string) error {
	_, err := s.used(ctx, who, id)
	return err
}

// used is MayUse that returns whose the canvas is.
func (s *Canvases) used(ctx context.Context, who Principal, id string) (access.Object, error) {
	whose, err := s.store.Canvases.Access(ctx, who.Tenant, id)
	if err == nil {
		err = who.check(whose)
	}
	return whose, missing(err, "canvas")
}

// Revision returns the revision of a canvas that a principal may use, and when it was made, Unix
// milliseconds. Errors: [ErrNotFound].
func (s *Canvases) Revision(ctx context.Context, who Principal, id string) (Revision, error) {
	v, err := s.store.Canvases.Revision(ctx, who.Tenant, id)
	if err == nil {
		err = who.check(v.Access)
	}
	if err != nil {
		return Revision{}, missing(err, "canvas")
	}
	return v, nil
}

// StillMay returns an error if a principal may not use a canvas of this revision any more.
func (p Principal) StillMay(now Revision) error { return missing(p.check(now.Access), "canvas") }

// ByID finds a canvas of any tenant, for requests that carry their own proof of access. Errors:
// [ErrNotFound].
func (s *Canvases) ByID(ctx context.Context, id string) (Canvas, error) {
	tenant, err := s.store.Canvases.TenantOf(ctx, id)
	if err != nil {
		return Canvas{}, missing(err, "canvas")
	}
	return s.store.Canvases.Get(ctx, tenant, id)
}

// List lists canvases that a principal may use, and counts all that match.
func (s *Canvases) List(ctx context.Context, who Principal, f CanvasFilter, p Page) ([]Canvas, int, error) {
	f.Viewer = who.Viewer()
	return s.store.Canvases.List(ctx, f, p)
}

// CutPage returns one page of a whole list.
func CutPage[T any](list []T, p Page) []T {
	list = list[min(p.Offset, len(list)):]
	if p.Limit > 0 {
		list = list[:min(p.Limit, len(list))]
	}
	return list
}

// Titled lists canvases that a principal may use whose title is the same apart from case, in one
// category or, with "", in all. Titles of others are free: a refusal would reveal them.
func (s *Canvases) Titled(ctx context.Context, who Principal, title, category string) ([]Canvas, error) {
	f := CanvasFilter{Title: title}
	if category != "" {
		f.Categories = []string{category}
	}
	list, _, err := s.List(ctx, who, f, Page{Limit: 10, Documents: NoDocuments})
	return list, err
}

// Create stores a new canvas. Errors: those of [Error].
func (s *Canvases) Create(
	ctx context.Context, who Principal, p CanvasPatch, versionTitle func(string) string,
) (Canvas, error) {
	v := Canvas{
		Tenant: who.Tenant, User: who.User, Category: AgentCategory, Permission: store.PermissionMe, DSL: p.DSL,
	}
	p.apply(&v)
	if err := cmp.Or(checkCanvas(&v), p.checkTags()); err != nil {
		return v, err
	}
	if err := s.projects.Place(ctx, who, v.Project); err != nil {
		return v, err
	}
	if v.Released {
		if err := s.Check(v.DSL); err != nil {
			return v, err
		}
	}
	return s.store.Canvases.Create(ctx, v, versionTitle(v.Title))
}

// Edit changes a canvas, and publishes it for its author if the patch has that flag. Errors: those
// of [Error].
func (s *Canvases) Edit(ctx context.Context, old Canvas, e CanvasEdit) (Canvas, error) {
	next := old
	e.apply(&next)
	if err := cmp.Or(checkCanvas(&next), e.checkTags()); err != nil {
		return old, err
	}
	if err := s.projects.move(ctx, e.Author, old.Access(), next.Access()); err != nil {
		return old, err
	}
	if next.Title != old.Title && e.Unique != nil {
		if err := e.Unique(ctx, old, next); err != nil {
			return old, err
		}
	}
	version := ""
	if e.DSL != nil || next.Released {
		version = e.VersionTitle(next.Title)
	}
	return s.store.Canvases.Edit(ctx, old.Tenant, old.ID, version, func(v *Canvas) error {
		if e.Rev != nil && v.Rev != *e.Rev {
			return errCanvasChanged
		}
		e.apply(v)
		v.Publisher = e.Author.User
		if e.DSL != nil && !bytes.Equal(e.DSL, v.DSL) {
			v.DSL, v.Author = e.DSL, e.Author.User
		}
		if v.Released {
			return s.Check(v.DSL)
		}
		return nil
	})
}

// Delete removes a canvas with its versions and schedules. Errors: [ErrNotFound].
func (s *Canvases) Delete(ctx context.Context, who Principal, id string) error {
	if err := s.MayUse(ctx, who, id); err != nil {
		return err
	}
	if err := s.store.Canvases.Delete(ctx, who.Tenant, id); err != nil {
		return missing(err, "canvas")
	}
	return s.schedules.DeleteOf(ctx, who.Tenant, id)
}

// Reset removes the state of the editor's runs from a canvas and returns its document. Errors:
// [ErrNotFound].
func (s *Canvases) Reset(ctx context.Context, who Principal, id string) (engine.Value, error) {
	if err := s.MayUse(ctx, who, id); err != nil {
		return engine.Null, err
	}
	v, err := s.store.Canvases.Edit(ctx, who.Tenant, id, "", func(v *Canvas) error {
		canvas, err := s.runs.Load(v.DSL)
		if err != nil {
			return err
		}
		state := canvas.State()
		state.Reset(false)
		v.DSL = canvas.Save(state)
		return nil
	})
	if err != nil {
		return engine.Null, err
	}
	doc, err := engine.ParseJSON(v.DSL)
	if err != nil {
		return engine.Null, err
	}
	if task := doc.Get("task_id").Str(); task != "" && s.forgetTask != nil {
		err = s.forgetTask(ctx, task)
	}
	return doc, err
}

// Check refuses a document that does not load. Errors: those of [Error].
func (s *Canvases) Check(dsl []byte) error {
	if _, err := engine.Load(s.registry, dsl); err != nil {
		return BadArgument("%s", err)
	}
	return nil
}

// Diagnostics returns everything that is wrong with a document for a principal, and what of the
// principal's own others get to read when the principal publishes it.
func (s *Canvases) Diagnostics(ctx context.Context, who Principal, dsl []byte) ([]engine.Diagnostic, []Opened, error) {
	registry := s.registry
	if s.plugins != nil {
		registry = registry.Clone()
		registry.Plugin = s.plugins.LookupFor(who.Tenant)
	}
	found := engine.Validate(registry, dsl)
	lacking, opened, err := s.named(ctx, who, dsl)
	if err != nil {
		return nil, nil, err
	}
	models, err := s.models.Of(who.Tenant, "").Models(ctx)
	if err != nil {
		return nil, nil, err
	}
	return slices.Concat(found, lacking, models.UnknownIn(s.Document(dsl))), opened, nil
}

// Document returns a document with the components of its graph, if it has only that. One that
// cannot be read so is returned as it is.
func (s *Canvases) Document(dsl []byte) engine.Value {
	doc, err := engine.ParseJSON(dsl)
	if err != nil {
		return engine.Null
	}
	if whole, err := engine.Complete(s.registry, doc); err == nil {
		return whole
	}
	return doc
}

// Role returns the role of a component by its name, "" for one that is not known.
func (s *Canvases) Role(component string) engine.Role {
	spec, err := s.registry.Lookup(component)
	if err != nil {
		return ""
	}
	return spec.Role
}

// Load returns the plan of a document. Errors: [ErrCanvas].
func (s *Canvases) Load(dsl []byte) (*engine.Canvas, error) { return s.runs.Load(dsl) }

// CheckPipeline refuses a canvas as the pipeline of a dataset or document unless it is one that a
// principal may read; "" is none. Errors: of [Error], with pipeline as its parameter.
func (s *Canvases) CheckPipeline(ctx context.Context, who Principal, id string) error {
	if id == "" {
		return nil
	}
	bad := func(format string, args ...any) error {
		return &Error{CodeBadArgument, fmt.Sprintf(format, args...), "pipeline"}
	}
	v, err := s.Get(ctx, who.Using(), id)
	if errors.Is(err, ErrNotFound) {
		return bad("canvas %.40q does not exist, or you have no access to it", id)
	}
	if err != nil {
		return err
	}
	canvas, err := s.Load(v.DSL)
	if err != nil {
		return bad("canvas %q cannot run: %s", v.Title, err)
	}
	if !canvas.IsPipeline() {
		return bad("canvas %q is an agent; choose a pipeline, which starts at File", v.Title)
	}
	return nil
}

// InputForm returns the form of a component of a document, an empty object when it has none.
func InputForm(canvas *engine.Canvas, component string) (engine.Value, error) {
	form, err := canvas.InputForm(component)
	if form.IsNull() {
		form = engine.Object()
	}
	return form, err
}

// Chosen returns a canvas, with its published document instead of the draft if published is true.
// Errors: [ErrUnpublished].
func (s *Canvases) Chosen(ctx context.Context, v Canvas, published bool) (Canvas, error) {
	if !published {
		return v, nil
	}
	return s.runs.Published(ctx, v)
}
