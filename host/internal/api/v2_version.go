package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Versions of our own API, and which of them is published.
var v2VersionRoutes = []route{
	{method: "GET", path: "/api/v2/canvases/{id}/versions", body: bodyNone, scope: scopeRead, answer: (*API).v2ListVersions, doc: &v2Doc{
		name: "listVersions", about: "Versions of a canvas, newest first: the documents that were saved last, and all that were ever published.", out: schemaOf[v2Versions](),
	}},
	{method: "GET", path: "/api/v2/canvases/{id}/versions/{vid}", body: bodyNone, scope: scopeRead, answer: (*API).v2GetVersion, doc: &v2Doc{
		name: "getVersion", about: "One version with its document.", out: schemaOf[v2Version](),
	}},
	{method: "POST", path: "/api/v2/canvases/{id}/publish", body: bodyTiny, scope: scopeEdit, answer: (*API).v2Publish, doc: &v2Doc{
		name: "publishCanvas", about: "Publishes the document as it is saved, or one of its versions. Runs, sessions and schedules with published get it until another is published, whatever is saved meanwhile.",
		in: schemaOf[v2PublishInput](), out: schemaOf[v2Canvas](),
	}},
}

type v2Version struct {
	ID          string       `json:"id"`
	Number      int64        `json:"number" jsonschema:"grows by one with each version of the canvas"`
	Title       string       `json:"title"`
	Created     time.Time    `json:"created"`
	Published   bool         `json:"published" jsonschema:"it is the one that what runs with published gets"`
	PublishedAt *time.Time   `json:"published_at,omitempty" jsonschema:"when it was published last; left out when it never was"`
	DSL         engine.Value `json:"dsl,omitzero" jsonschema:"the document; left out of lists"`
}

type v2Versions struct {
	Items []v2Version `json:"items"`
}

// v2Published is what a canvas tells of its published version.
type v2Published struct {
	Version string    `json:"version" jsonschema:"its id"`
	At      time.Time `json:"at" jsonschema:"when it was published"`
}

type v2PublishInput struct {
	Version string `json:"version,omitempty" jsonschema:"id of the version to publish; the document as it is saved when left out"`
	Rev     int64  `json:"rev,omitempty" jsonschema:"publish only this revision of the canvas"`
}

func v2VersionOf(v store.Version, of store.Canvas, withDSL bool) v2Version {
	out := v2Version{ID: v.ID, Number: v.Number, Title: v.Title, Created: time.UnixMilli(v.CreateTime).UTC(), Published: v.ID == of.Published}
	if v.PublishTime > 0 {
		at := time.UnixMilli(v.PublishTime).UTC()
		out.PublishedAt = &at
	}
	if withDSL {
		out.DSL = document(v.DSL)
	}
	return out
}

func (a *API) v2ListVersions(c *call) error {
	canvas, err := c.v2Canvas()
	if err != nil {
		return err
	}
	list, err := a.cfg.Store.Versions(c.ctx(), c.who.tenant, canvas.ID)
	if err != nil {
		return err
	}
	out := v2Versions{Items: make([]v2Version, len(list))}
	for i, v := range list {
		out.Items[i] = v2VersionOf(v, canvas, false)
	}
	c.json(http.StatusOK, out)
	return nil
}

// versionOf finds a version of a canvas.
func (c *call) versionOf(canvas store.Canvas, id string) (store.Version, error) {
	v, err := c.a.cfg.Store.Version(c.ctx(), c.who.tenant, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && v.Canvas != canvas.ID {
		err = notFoundV2("version")
	}
	return v, err
}

func (a *API) v2GetVersion(c *call) error {
	canvas, err := c.v2Canvas()
	if err != nil {
		return err
	}
	v, err := c.versionOf(canvas, c.params["vid"])
	if err != nil {
		return err
	}
	c.json(http.StatusOK, v2VersionOf(v, canvas, true))
	return nil
}

func (a *API) v2Publish(c *call) error {
	v, err := c.v2Canvas()
	if err != nil {
		return err
	}
	var in v2PublishInput
	if err := c.decode(&in); err != nil {
		return err
	}
	switch {
	case in.Version == "":
		v, err = c.publishDraft(v, in.Rev)
	case in.Rev != 0:
		err = badArgument("a version never changes: leave rev out")
	default:
		v, err = c.publishVersion(v, in.Version)
	}
	if err != nil {
		return err
	}
	c.json(http.StatusOK, v2CanvasOf(v, true))
	return nil
}

// publishDraft publishes a canvas as it is saved; a rev that is not 0 must be
// the one that it has.
func (c *call) publishDraft(v store.Canvas, rev int64) (store.Canvas, error) {
	return c.a.cfg.Store.EditCanvas(c.ctx(), c.who.tenant, v.ID, c.versionTitle(v.Title), func(v *store.Canvas) error {
		if rev != 0 && v.Rev != rev {
			return errCanvasChanged
		}
		v.Released = true
		return c.publishable(v.DSL)
	})
}

func (c *call) publishVersion(v store.Canvas, id string) (store.Canvas, error) {
	old, err := c.versionOf(v, id)
	if err != nil {
		return v, err
	}
	if err := c.publishable(old.DSL); err != nil {
		return v, err
	}
	v, err = c.a.cfg.Store.PublishVersion(c.ctx(), c.who.tenant, v.ID, id)
	if errors.Is(err, store.ErrNotFound) {
		err = notFoundV2("version") // dropped since
	}
	return v, err
}
