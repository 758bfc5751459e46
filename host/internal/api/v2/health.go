package v2

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// health is the state of the host, for its operator.
type health struct{ *app.Services }

func (h health) operations() []operation {
	return []operation{
		handle(operation{
			method: "GET", path: "/api/v2/health", body: api.BodyNone, scope: app.ScopeHost, name: "hostHealth",
			about: "Get the state of the host that answers: whether its database and its run log answer, runs at " +
				"work, and the memory that each kind of work uses. The numbers of all hosts are at /metrics.",
		}, h.get),
	}
}

type partHealth struct {
	Name   string `json:"name" jsonschema:"database, run_log, run_log_files or database_files"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty" jsonschema:"what the part is, or why it is not ok"`
}

type budgetView struct {
	Name string `json:"name" jsonschema:"kind of work"`
	Size int64  `json:"size" jsonschema:"bytes that this kind of work may hold together"`
	Used int64  `json:"used" jsonschema:"bytes that are reserved now"`
}

type healthView struct {
	OK      bool         `json:"ok"`
	Version string       `json:"version"`
	Started *time.Time   `json:"started,omitempty"`
	Runs    int          `json:"runs" jsonschema:"runs that this host works on"`
	Parts   []partHealth `json:"parts"`
	Memory  []budgetView `json:"memory"`
}

func (h health) get(ctx context.Context, _ struct{}) (healthView, error) {
	status := h.Health.Status()
	out := healthView{
		OK: true, Version: status.Version, Runs: h.Runs.Active(), Parts: []partHealth{}, Memory: []budgetView{},
	}
	if !status.Started.IsZero() {
		started := status.Started.UTC()
		out.Started = &started
	}
	ctx, done := context.WithTimeout(ctx, api.PingTime)
	defer done()
	check := func(name, detail string, err error) {
		part := partHealth{Name: name, OK: err == nil, Detail: detail}
		if err != nil {
			part.Detail, out.OK = err.Error(), false
		}
		out.Parts = append(out.Parts, part)
	}
	check("database", h.Health.Engine(), h.Health.Store(ctx))
	check("run_log", status.Log, h.Health.Log(ctx))
	check("run_log_files", "", h.Health.Damage())
	check("database_files", "", h.Health.DatabaseDamage())
	for _, b := range status.Memory {
		out.Memory = append(out.Memory, budgetView(b))
	}
	return out, nil
}
