package v2

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// usage serves the model usage of a tenant.
type usage struct{ *app.Services }

func (u usage) operations() []operation {
	return []operation{
		handle(operation{
			method: "GET", path: "/api/v2/usage", body: api.BodyNone, scope: app.ScopeAdmin, name: "modelUsage",
			about: "Get the calls, tokens and costs of the models that the tenant used, added up by day, by canvas " +
				"or by model. Costs are by the prices of the tenant, or else those of the host (serve --prices), or " +
				"else those of the vendors.",
		}, u.report),
	}
}

type useView struct {
	Day    string  `json:"day,omitempty" jsonschema:"date (UTC), such as 2026-11-22; only by day"`
	Canvas string  `json:"canvas,omitempty" jsonschema:"id; only by canvas, and absent for calls outside of a canvas"`
	Title  string  `json:"title,omitempty" jsonschema:"title of the canvas; absent if it was deleted"`
	Model  string  `json:"model,omitempty" jsonschema:"name@provider; only by model"`
	Calls  int64   `json:"calls"`
	Input  int64   `json:"input_tokens"`
	Output int64   `json:"output_tokens"`
	Cost   float64 `json:"cost" jsonschema:"0 for models without a known price"`
}

type usageReport struct {
	From     string    `json:"from" jsonschema:"first day"`
	To       string    `json:"to" jsonschema:"last day"`
	Priced   bool      `json:"priced" jsonschema:"whether the host has prices"`
	Currency string    `json:"currency,omitempty" jsonschema:"code of the currency of costs, such as USD, if the prices name it"`
	Items    []useView `json:"items" jsonschema:"days in order, without unused ones; others by cost, largest first"`
	Total    useView   `json:"total"`
}

type usageQuery struct {
	Who  app.Principal
	From string `query:"from" jsonschema:"first day, such as 2026-11-01; default 29 days before to"`
	To   string `query:"to" jsonschema:"last day; default today (UTC)"`
	By   string `query:"by" jsonschema:"day (default), canvas or model"`
}

const (
	secondsPerDay  = 24 * 60 * 60
	microsPerUnit  = 1e6
	defaultUseDays = 30
)

var useGroups = map[string]app.UseGroup{
	"": app.UseByDay, "day": app.UseByDay, "canvas": app.UseByCanvas, "model": app.UseByModel,
}

func dayText(day int64) string { return time.Unix(day*secondsPerDay, 0).UTC().Format(time.DateOnly) }

// readDay reads a date of a query as days since 1970-01-01.
func readDay(name, text string, otherwise int64) (int64, error) {
	if text == "" {
		return otherwise, nil
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, badQuery("%s is %.40q, not a date such as 2026-11-22", name, text)
	}
	return at.Unix() / secondsPerDay, nil
}

func useViewOf(u app.ModelUse, by app.UseGroup) useView {
	out := useView{
		Canvas: u.Canvas, Title: u.Title, Model: u.Model, Calls: u.Calls, Input: u.Input, Output: u.Output,
		Cost: float64(u.Cost) / microsPerUnit,
	}
	if by == app.UseByDay {
		out.Day = dayText(u.Day)
	}
	return out
}

func (u usage) report(ctx context.Context, in usageQuery) (usageReport, error) {
	by, known := useGroups[in.By]
	if !known {
		return usageReport{}, badQuery("by is %.40q (one of day, canvas, model)", in.By)
	}
	to, err := readDay("to", in.To, u.Usage.Today())
	if err != nil {
		return usageReport{}, err
	}
	from, err := readDay("from", in.From, to-defaultUseDays+1)
	if err != nil {
		return usageReport{}, err
	}
	if from > to {
		return usageReport{}, badQuery("from %s is after to %s", dayText(from), dayText(to))
	}
	rows, err := u.Usage.Models(ctx, in.Who, from, to, by)
	out := usageReport{
		From: dayText(from), To: dayText(to), Priced: u.Usage.Priced(), Currency: u.Usage.Currency(),
		Items: make([]useView, len(rows)),
	}
	var cost int64
	for i, row := range rows {
		out.Items[i] = useViewOf(row, by)
		out.Total.Calls += row.Calls
		out.Total.Input += row.Input
		out.Total.Output += row.Output
		cost += row.Cost
	}
	out.Total.Cost = float64(cost) / microsPerUnit
	return out, err
}
