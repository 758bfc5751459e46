package api

import (
	"cmp"
	"errors"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

var versionRoutes = []route{
	{method: "GET", path: "/v1/canvas/getlistversion/{id}", body: bodyNone, scope: scopeRead, answer: (*API).listVersions},
	{method: "GET", path: "/api/v1/agents/{id}/versions", body: bodyNone, scope: scopeRead, answer: (*API).listVersions},
	{method: "GET", path: "/v1/canvas/getversion/{vid}", body: bodyNone, scope: scopeRead, answer: (*API).getVersion},
	{method: "GET", path: "/api/v1/agents/{id}/versions/{vid}", body: bodyNone, scope: scopeRead, answer: (*API).getVersion},
	{method: "GET", path: "/v1/canvas/templates", body: bodyNone, scope: scopeRead, answer: (*API).listTemplates},
	{method: "GET", path: "/api/v1/agents/templates", body: bodyNone, scope: scopeRead, answer: (*API).listTemplates},
	{method: "GET", path: "/v1/canvas/prompts", body: bodyNone, scope: scopeRead, answer: (*API).prompts},
	{method: "GET", path: "/api/v1/agents/prompts", body: bodyNone, scope: scopeRead, answer: (*API).prompts},
}

// versionRow is a version as the dialects list it. In the older one nothing was
// published.
func (c *call) versionRow(v store.Version) *engine.ObjectBuilder {
	b := engine.NewObject(10)
	b.Set("id", engine.String(v.ID)).Set("title", engine.String(v.Title)).Set("user_canvas_id", engine.String(v.Canvas))
	b.Set("description", orNull(v.Description)).Set("release", engine.Bool(c.newer() && v.PublishTime > 0))
	setTimes(b, v.CreateTime, c.changeTime(v))
	return b
}

// changeTime is when something became of a version last.
func (c *call) changeTime(v store.Version) int64 {
	if c.newer() {
		return max(v.CreateTime, v.PublishTime)
	}
	return v.CreateTime
}

func (a *API) listVersions(c *call) error {
	if _, err := c.canvas(c.params["id"], refused(codeOperating, notOwner)); err != nil {
		return err
	}
	list, err := a.cfg.Store.Versions(c.ctx(), c.who.tenant, c.params["id"])
	if err != nil {
		return err
	}
	if c.newer() {
		slices.SortStableFunc(list, func(v, w store.Version) int { return cmp.Compare(c.changeTime(w), c.changeTime(v)) })
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = c.versionRow(v).Value()
	}
	return c.ok(engine.List(rows...))
}

func (a *API) getVersion(c *call) error {
	v, err := a.cfg.Store.Version(c.ctx(), c.who.tenant, c.params["vid"])
	if id := c.params["id"]; errors.Is(err, store.ErrNotFound) || err == nil && id != "" && id != v.Canvas {
		return failed(codeData, "Version not found.")
	}
	if err == nil {
		err = c.reserveStored(v.DSL)
	}
	if err != nil {
		return err
	}
	return c.ok(c.versionRow(v).Set("dsl", document(v.DSL)).Value())
}

// Template is a canvas that people begin with.
type Template struct {
	ID          string
	Title       engine.Value // language -> text
	Description engine.Value // language -> text
	Avatar      string
	Type        string
	DSL         []byte
}

func (a *API) listTemplates(c *call) error {
	rows := make([]engine.Value, len(a.cfg.Templates))
	for i, t := range a.cfg.Templates {
		b := engine.NewObject(12)
		b.Set("id", engine.String(t.ID)).Set("avatar", orNull(t.Avatar)).Set("title", t.Title).Set("description", t.Description)
		b.Set("canvas_type", engine.String(t.Type)).Set("canvas_types", engine.Strings(t.Type))
		b.Set("canvas_category", engine.String(agentCategory)).Set("dsl", document(t.DSL))
		setTimes(b, a.began, a.began) // they are read again at each start
		rows[i] = b.Value()
	}
	return c.ok(engine.List(rows...))
}

// prompts are texts that the editor offers for an Agent's system prompt.
func (a *API) prompts(c *call) error {
	return c.ok(engine.Object(
		"task_analysis", "Read the request. Say in a few lines what is wanted, what is known, what is missing, and what a good answer looks like.",
		"plan_generation", "From the analysis, list the steps that lead to the answer. For each step name the tool that does it and what it needs.",
		"reflection", "Look at what the steps gave. Say what is certain, what is still open, and whether another step is worth its cost.",
		"citation_guidelines", "Put [ID:n] behind each sentence that rests on passage n. Sentences without a source get no mark.",
	))
}
