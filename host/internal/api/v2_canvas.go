package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

type v2Canvas struct {
	ID          string       `json:"id"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Rev         int64        `json:"rev" jsonschema:"grows by one with each change"`
	Created     time.Time    `json:"created"`
	Updated     time.Time    `json:"updated"`
	Published   *v2Published `json:"published,omitempty" jsonschema:"what runs with published get; left out when nothing is published"`
	DSL         engine.Value `json:"dsl,omitzero" jsonschema:"the document; left out of lists"`
}

type v2Canvases struct {
	Items []v2Canvas `json:"items"`
	Total int        `json:"total" jsonschema:"all that match, not only this page"`
}

// v2CanvasInput documents the body; it is read member by member.
type v2CanvasInput struct {
	Title       string         `json:"title,omitempty"`
	Description string         `json:"description,omitempty"`
	DSL         map[string]any `json:"dsl,omitempty" jsonschema:"the document of the canvas"`
	Rev         int64          `json:"rev,omitempty" jsonschema:"change only this revision"`
}

type v2Document struct {
	DSL map[string]any `json:"dsl,omitempty"`
}

type v2Diagnostics struct {
	Diagnostics []engine.Diagnostic `json:"diagnostics"`
}

type v2SessionInput struct {
	User string `json:"user,omitempty" jsonschema:"id of the person, for sys.user_id"`
	Name string `json:"name,omitempty"`

	Published bool `json:"published,omitempty" jsonschema:"begin with a copy of the published version"`
}

type v2Session struct {
	ID       string       `json:"id"`
	Canvas   string       `json:"canvas"`
	User     string       `json:"user"`
	Messages engine.Value `json:"messages"`
	Created  time.Time    `json:"created"`
}

func v2CanvasOf(v store.Canvas, withDSL bool) v2Canvas {
	out := v2Canvas{
		ID: v.ID, Title: v.Title, Description: v.Description, Rev: v.Rev,
		Created: time.UnixMilli(v.CreateTime).UTC(), Updated: time.UnixMilli(v.UpdateTime).UTC(),
	}
	if v.Published != "" {
		out.Published = &v2Published{v.Published, time.UnixMilli(v.PublishTime).UTC()}
	}
	if withDSL {
		out.DSL = document(v.DSL)
	}
	return out
}

func (a *API) v2ListCanvases(c *call) error {
	p, err := c.v2Page("update_time")
	if err != nil {
		return err
	}
	p.Documents = store.NoDocuments
	list, total, err := a.cfg.Store.Canvases(c.ctx(), store.CanvasFilter{Tenants: []string{c.who.tenant}, Keywords: c.query.Get("keywords")}, p)
	if err != nil {
		return err
	}
	out := v2Canvases{Items: make([]v2Canvas, len(list)), Total: total}
	for i, v := range list {
		out.Items[i] = v2CanvasOf(v, false)
	}
	c.json(http.StatusOK, out)
	return nil
}

func (a *API) v2CreateCanvas(c *call) error {
	dsl, err := c.dsl()
	if err != nil {
		return err
	}
	if dsl == nil || c.text("title") == "" {
		return &status{http.StatusUnprocessableEntity, "bad_argument", "title and dsl are needed"}
	}
	if err := c.valid(); err != nil {
		return err
	}
	v, err := c.newCanvas(dsl)
	if err != nil {
		return err
	}
	c.json(http.StatusCreated, v2CanvasOf(v, true))
	return nil
}

func (c *call) v2Canvas() (store.Canvas, error) {
	return c.canvas(c.params["id"], notFoundV2("canvas"))
}

func (a *API) v2GetCanvas(c *call) error {
	v, err := c.v2Canvas()
	if err != nil {
		return err
	}
	c.json(http.StatusOK, v2CanvasOf(v, true))
	return nil
}

var errCanvasChanged = &status{http.StatusConflict, "changed", "the canvas was changed meanwhile; read it again"}

func (a *API) v2UpdateCanvas(c *call) error {
	v, err := c.v2Canvas()
	if err != nil {
		return err
	}
	dsl, err := c.dsl()
	if err != nil {
		return err
	}
	rev, given := c.body.Get("rev").Int()
	c.fill(&v)
	if err := c.checkCanvas(&v); err != nil {
		return err
	}
	version := ""
	if dsl != nil {
		version = c.versionTitle(v.Title)
	}
	v, err = a.cfg.Store.EditCanvas(c.ctx(), c.who.tenant, v.ID, version, func(v *store.Canvas) error {
		if given && v.Rev != rev {
			return errCanvasChanged
		}
		c.fill(v)
		if dsl != nil {
			v.DSL = dsl
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.json(http.StatusOK, v2CanvasOf(v, true))
	return nil
}

func (a *API) v2DeleteCanvas(c *call) error {
	err := c.deleteCanvas(c.params["id"])
	if errors.Is(err, store.ErrNotFound) {
		return notFoundV2("canvas")
	}
	if err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *API) v2Validate(c *call) error {
	v, err := c.v2Canvas()
	if err != nil {
		return err
	}
	dsl, _, err := c.sentDocument()
	if err != nil {
		return err
	}
	if dsl == nil {
		dsl = v.DSL
	}
	out := v2Diagnostics{Diagnostics: engine.Validate(a.cfg.Registry, dsl)}
	if out.Diagnostics == nil {
		out.Diagnostics = []engine.Diagnostic{}
	}
	c.json(http.StatusOK, out)
	return nil
}

func (a *API) v2CreateSession(c *call) error {
	v, err := c.v2Canvas()
	if err != nil {
		return err
	}
	user, name, published := c.text("user"), c.text("name"), c.flag("published", false)
	if err := c.valid(); err != nil {
		return err
	}
	if v, err = c.chosen(v, published); err != nil {
		return err
	}
	if user == "" {
		user = c.who.user
	}
	s, err := c.newSession(v, user, name, "v2", true)
	if err != nil {
		return err
	}
	c.json(http.StatusCreated, v2Session{s.ID, s.Canvas, s.User, document(s.Messages), time.UnixMilli(s.CreateTime).UTC()})
	return nil
}
