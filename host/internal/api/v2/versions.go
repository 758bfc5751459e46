package v2

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// versions are the saved documents of canvases, and which of them is published.
type versions struct{ *app.Services }

func (v versions) operations() []operation {
	const of = "/api/v2/canvases/{id}"
	return []operation{
		handle(operation{
			method: "GET", path: of + "/versions", body: api.BodyNone, scope: app.ScopeRead, name: "listVersions",
			about: "List the versions of a canvas, newest first: the most recently saved documents, and all that " +
				"were published.",
		}, v.list),
		handle(operation{
			method: "GET", path: of + "/versions/{vid}", body: api.BodyNone, scope: app.ScopeRead, name: "getVersion",
			about: "Get a version with its document.",
		}, v.get),
		handle(operation{
			method: "PATCH", path: of + "/versions/{vid}", body: api.BodyTiny, scope: app.ScopeEdit,
			name: "renameVersion", about: "Update the title of a version.",
		}, v.rename),
		handle(operation{
			method: "POST", path: of + "/publish", body: api.BodyTiny, scope: app.ScopeEdit, name: "publishCanvas",
			about: "Publish the saved document or one of its versions. Runs, sessions and schedules with " +
				"published use it until another version is published. They use the datasets, memories and canvases " +
				"that it names with the rights of the caller.",
		}, v.publish),
	}
}

type versionView struct {
	ID          string       `json:"id"`
	Number      int64        `json:"number" jsonschema:"number of the version, from 1"`
	Title       string       `json:"title"`
	Author      string       `json:"author" jsonschema:"nickname of the user who saved it; empty if unknown"`
	Created     time.Time    `json:"created"`
	Published   bool         `json:"published" jsonschema:"whether it is the published version"`
	PublishedAt *time.Time   `json:"published_at,omitempty" jsonschema:"when it was last published; absent if never"`
	DSL         engine.Value `json:"dsl,omitzero" jsonschema:"the document; absent in lists. If only its graph is stored, with the components that it draws"`
}

// publishedView describes the published version of a canvas.
type publishedView struct {
	Version string    `json:"version" jsonschema:"id of the version"`
	At      time.Time `json:"at" jsonschema:"time of publication"`
}

type publishInput struct {
	Version string `json:"version,omitempty" jsonschema:"id of the version to publish; default the saved document"`
	Rev     int64  `json:"rev,omitempty" jsonschema:"fail unless the current revision of the canvas is this one"`
}

func (v versions) view(ctx context.Context, one app.Version, of app.Canvas) versionView {
	author := ""
	if one.User != "" {
		author = v.Accounts.Nickname(ctx, one.User)
	}
	return versionViewOf(one, of, author)
}

func versionViewOf(v app.Version, of app.Canvas, author string) versionView {
	return versionView{
		ID: v.ID, Number: v.Number, Title: v.Title, Author: author, Created: timeOf(v.CreateTime), Published: v.ID == of.Published,
		PublishedAt: timeOrNil(v.PublishTime),
	}
}

func (v versions) list(ctx context.Context, in canvasByID) (list[versionView], error) {
	canvas, err := v.Canvases.Get(ctx, in.Who, in.ID)
	if err != nil {
		return list[versionView]{}, err
	}
	all, err := v.Versions.List(ctx, canvas)
	out := list[versionView]{Items: make([]versionView, len(all))}
	for i, one := range all {
		out.Items[i] = v.view(ctx, one, canvas)
	}
	return out, err
}

type versionByID struct {
	Who     app.Principal
	ID      string `path:"id"`
	Version string `path:"vid"`
}

func (v versions) get(ctx context.Context, in versionByID) (versionView, error) {
	canvas, err := v.Canvases.Get(ctx, in.Who, in.ID)
	if err != nil {
		return versionView{}, err
	}
	one, err := v.Versions.Get(ctx, in.Who, canvas.ID, in.Version)
	if err != nil {
		return versionView{}, err
	}
	out := v.view(ctx, one, canvas)
	out.DSL = v.Canvases.Document(one.DSL)
	return out, nil
}

type versionTitleInput struct {
	Title string `json:"title"`
}

type renameVersion struct {
	Who     app.Principal
	ID      string `path:"id"`
	Version string `path:"vid"`
	Body    versionTitleInput
}

func (v versions) rename(ctx context.Context, in renameVersion) (versionView, error) {
	canvas, err := v.Canvases.Get(ctx, in.Who, in.ID)
	if err != nil {
		return versionView{}, err
	}
	one, err := v.Versions.Rename(ctx, in.Who, canvas, in.Version, in.Body.Title)
	if err != nil {
		return versionView{}, err
	}
	return v.view(ctx, one, canvas), nil
}

type publish struct {
	Who  app.Principal
	ID   string `path:"id"`
	Body publishInput
}

// publishedCanvas is a canvas with what became readable through it.
type publishedCanvas struct {
	canvasView
	Opened []app.Opened `json:"opened" jsonschema:"private datasets and memories of the caller that others read through the canvas now; without those that only a run finds out"`
}

func (v versions) publish(ctx context.Context, in publish) (publishedCanvas, error) {
	canvas, err := v.Canvases.Get(ctx, in.Who, in.ID)
	switch {
	case err != nil:
	case in.Body.Version == "":
		canvas, err = v.Versions.PublishDraft(ctx, in.Who, canvas, in.Body.Rev, versionTitle(canvas.Title))
	case in.Body.Rev != 0:
		err = app.BadArgument("a version never changes: leave rev out")
	default:
		canvas, err = v.Versions.Publish(ctx, in.Who, canvas, in.Body.Version)
	}
	if err != nil {
		return publishedCanvas{}, err
	}
	out := publishedCanvas{canvasViewOf(canvas, v.Canvases.Document(canvas.DSL)), []app.Opened{}}
	version, err := v.Versions.Get(ctx, in.Who, canvas.ID, canvas.Published)
	if err != nil {
		return out, err
	}
	opened, err := v.Canvases.Opened(ctx, in.Who, version.DSL)
	if opened != nil {
		out.Opened = opened
	}
	return out, err
}
