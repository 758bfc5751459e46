package v2

import (
	"context"
	"errors"
	"net/http"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// jsonLines is an answer of a JSON value a line.
type jsonLines []byte

func (l jsonLines) Write(r *api.Request) error {
	return api.Raw(http.StatusOK, "application/jsonl", l).Write(r)
}

func (s runs) trace(ctx context.Context, in runByID) (jsonLines, error) {
	v, err := s.Runs.Get(ctx, in.Who, in.ID)
	if err != nil {
		return nil, err
	}
	trace, err := s.Runs.Trace(ctx, v)
	return trace, s.notKept(ctx, v, err)
}

type runDocument struct {
	Hash string       `json:"hash" jsonschema:"SHA-256 of the document"`
	DSL  engine.Value `json:"dsl" jsonschema:"the document"`
}

func (s runs) document(ctx context.Context, in runByID) (runDocument, error) {
	v, err := s.Runs.Get(ctx, in.Who, in.ID)
	if err != nil {
		return runDocument{}, err
	}
	doc, err := s.Runs.Document(ctx, v)
	if err != nil {
		return runDocument{}, s.notKept(ctx, v, err)
	}
	dsl, err := engine.ParseJSON(doc.DSL)
	return runDocument{doc.Hash, dsl}, err
}

// notKept answers that a run is not kept, with the reason.
func (s runs) notKept(ctx context.Context, run app.Run, err error) error {
	if !errors.Is(err, app.ErrGone) {
		return err
	}
	why, failed := s.Runs.KeptState(ctx, run)
	if failed != nil {
		return failed
	}
	return &api.Status{HTTP: http.StatusGone, Code: "gone", Message: "the events of this run are not kept: " +
		app.NotKeptReason(why)}
}

const traceSettingsPath = "/api/v2/settings/traces"

// traceSettings are routes about how long runs are kept.
type traceSettings struct{ *app.Services }

func (t traceSettings) operations() []operation {
	return []operation{
		handle(operation{
			method: "GET", path: traceSettingsPath, body: api.BodyNone, scope: app.ScopeRead, name: "traceSettings",
			about: "Get how long the runs of the tenant are kept with their events.",
		}, t.get),
		handle(operation{
			method: "PUT", path: traceSettingsPath, body: api.BodyTiny, scope: app.ScopeAdmin, name: "putTraceSettings",
			about: "Set how long the runs of the tenant are kept with their events.",
		}, t.put),
		handle(operation{
			method: "GET", path: "/api/v2/traces/usage", body: api.BodyNone, scope: app.ScopeAdmin, name: "traceUsage",
			about: "List the bytes of the kept runs of the tenant by day and canvas, oldest day first.",
		}, t.usage),
	}
}

type traceSettingsView struct {
	Days  int   `json:"days" jsonschema:"after the day of the run; 0 keeps nothing beyond ten minutes"`
	Bytes int64 `json:"bytes" jsonschema:"of all kept runs, compressed; the oldest days are deleted first"`
}

func (t traceSettings) get(ctx context.Context, in byTenant) (traceSettingsView, error) {
	set, err := t.Runs.TraceSettings(ctx, in.Who.Tenant)
	return traceSettingsView(set), err
}

type traceUse struct {
	Day    string `json:"day" jsonschema:"when the runs were stored (UTC)"`
	Canvas string `json:"canvas"`
	Blocks int64  `json:"blocks"`
	Bytes  int64  `json:"bytes" jsonschema:"compressed"`
}

func (t traceSettings) usage(ctx context.Context, in byTenant) (list[traceUse], error) {
	uses, err := t.Runs.TraceUses(ctx, in.Who.Tenant)
	out := make([]traceUse, len(uses))
	for i, u := range uses {
		out[i] = traceUse{u.Day, u.Canvas, u.Blocks, u.Size}
	}
	return list[traceUse]{Items: out}, err
}

type putTraceSettings struct {
	Who  app.Principal
	Body struct {
		Days  *int   `json:"days,omitempty" jsonschema:"default unchanged"`
		Bytes *int64 `json:"bytes,omitempty" jsonschema:"default unchanged"`
	}
}

func (t traceSettings) put(ctx context.Context, in putTraceSettings) (traceSettingsView, error) {
	set, err := t.Runs.TraceSettings(ctx, in.Who.Tenant)
	if err != nil {
		return traceSettingsView{}, err
	}
	if in.Body.Days != nil {
		set.Days = *in.Body.Days
	}
	if in.Body.Bytes != nil {
		set.Bytes = *in.Body.Bytes
	}
	err = t.Runs.SetTraceSettings(ctx, in.Who.Tenant, set)
	return traceSettingsView(set), err
}
