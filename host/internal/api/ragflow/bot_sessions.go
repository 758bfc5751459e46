package ragflow

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// mostVisits is the number of conversations on a page of the list of a signed user.
const mostVisits = 30

// visits are the conversations of visitors whom the embedding site has signed.
type visits struct{ of bots }

// list lists the conversations of the user that the embedding site has signed, the newest
// first, so that they continue on another device. The original has no such path.
func (v visits) list(ctx context.Context, r *api.Request) (api.Response, error) {
	agent, err := v.of.agent(ctx, r)
	if err != nil {
		return nil, err
	}
	if r.Who.EndUser == "" {
		return nil, app.Forbidden("user_signature is missing: only a signed user has a list of sessions")
	}
	p, err := r.Query.Page(mostVisits, "update_time", true)
	if err != nil {
		return nil, err
	}
	p.Limit, p.Documents = min(max(p.Limit, 1), mostVisits), app.NoDocuments
	p.Order, p.Asc = "update_time", false
	f := app.SessionFilter{Canvas: agent.ID, Visitor: r.Who.Visitor}
	list, total, err := v.of.Services.Sessions.List(ctx, r.Who, f, p)
	if err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(list))
	for i, s := range list {
		rows[i] = visitRow(s).Value()
	}
	return envelope.Result(engine.Object("total", total, "sessions", engine.List(rows...))), nil
}

func visitRow(v app.Session) *engine.ObjectBuilder {
	b := engine.NewObject(5).Set("id", engine.String(v.ID)).Set("name", engine.String(v.Name))
	return b.Set("create_time", engine.Int(v.CreateTime)).Set("update_time", engine.Int(v.UpdateTime))
}

// get returns one conversation with what was said in it. The original has no such path.
func (v visits) get(ctx context.Context, r *api.Request) (api.Response, error) {
	agent, err := v.of.agent(ctx, r)
	if err != nil {
		return nil, err
	}
	s, err := v.of.Services.Sessions.Get(ctx, r.Who, agent.ID, r.Params["sid"])
	if errors.Is(err, app.ErrSession) || errors.Is(err, app.ErrOtherCanvas) {
		err = api.Failed(api.KindNotFound, api.NoSession)
	}
	if err != nil {
		return nil, err
	}
	return envelope.Result(visitRow(s).Set("messages", saidIn(s)).Value()), nil
}

// saidIn returns the messages of a session as its visitor saw them, answers with their references.
func saidIn(v app.Session) engine.Value {
	references, answers := api.DocumentOf(v.Reference), 0
	var out []engine.Value
	for i, m := range api.DocumentOf(v.Messages).Elements() {
		row := engine.Object("role", m.Get("role"), "content", m.Get("content"))
		if i > 0 && m.Get("role").Str() == "assistant" {
			row = row.With("reference", references.At(answers))
			answers++
		}
		out = append(out, row)
	}
	return engine.List(out...)
}
