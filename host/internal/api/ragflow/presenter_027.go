package ragflow

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/datasets"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// presenter027 is the dialect of version 0.27.
type presenter027 struct{}

var _ presenter = presenter027{}

func (presenter027) unknownKey(path string) error {
	if isEmbedPath(path) {
		return unknownEmbedToken()
	}
	return api.Unauthorized()
}

func (presenter027) notEditable() error   { return api.Refused(api.KindNotOwner, envelope.NotAccess) }
func (presenter027) notDeletable() string { return envelope.NotOwnerNewer }
func (presenter027) noAgent() error       { return api.Refused(api.KindNotOwner, envelope.NotAccess) }

func (presenter027) releases(asked bool) bool { return asked }

func (presenter027) addPublication(b *engine.ObjectBuilder, v app.Canvas) {
	at := engine.Null
	if v.Published != "" {
		at = engine.Int(v.PublishTime)
	}
	b.Set("last_publish_time", at).Set("release_time", at)
}

func (presenter027) versionTitle(title string, nickname func() string) string {
	return nickname() + "_" + title + "_" + time.Now().Format("2006-01-02 15:04:05")
}

func (presenter027) titleCategory(category string) string { return category }

func (presenter027) duplicate(_ app.Canvas, title, _ string) error { return titleExists(title) }

func (presenter027) created(row func() engine.Value) api.Response { return envelope.OK(row()) }
func (presenter027) updated(v app.Canvas) api.Response {
	return envelope.OK(engine.Object("update_time", v.UpdateTime))
}
func (presenter027) checksUpdates() bool    { return true }
func (presenter027) listsNewestFirst() bool { return true }
func (presenter027) listsCanvases() bool    { return true }

func (presenter027) foreignOwners() error {
	return api.Refused(api.KindNotOwner, "Only authorized owner_ids can be queried.")
}

func (presenter027) versionState(v app.Version) (bool, int64) {
	return v.PublishTime > 0, max(v.CreateTime, v.PublishTime)
}

func (p presenter027) orderVersions(list []app.Version) {
	slices.SortStableFunc(list, func(v, w app.Version) int {
		_, a := p.versionState(v)
		_, b := p.versionState(w)
		return cmp.Compare(b, a)
	})
}

func (presenter027) sessionVersion(v app.Session) engine.Value { return api.OrNull(v.Version) }

func (p presenter027) newSession(row engine.Value, v app.Session) engine.Value {
	return row.With("name", engine.String(v.Name)).With("exp_user_id", engine.String(v.User)).
		With("version_title", p.sessionVersion(v))
}

func (presenter027) sessionList(rows engine.Value, total int) api.Response {
	return envelope.With(engine.String("success"), rows, "total", total)
}

func (presenter027) deleteNone(all bool, _ string, _ int) (api.Response, error) {
	if !all {
		return envelope.Result(engine.Null), nil
	}
	return nil, nil
}

func (presenter027) deletedSome(deleted, problems int, report engine.Value) api.Response {
	text := fmt.Sprintf("Partially deleted %d sessions with %d errors", deleted, problems)
	return envelope.With(engine.String(text), report)
}

// frames shows all events, except for sessions that a client made by itself: messages, forms and
// what nodes did, and of the end of the run only what it cost.
func (presenter027) frames(t *turn) api.Frames {
	f := api.Frames{Session: t.session.ID, Done: true, Broke: errorMessage}
	agent := t.session.Source == app.SourceAgent
	if agent {
		f.Shows = func(e engine.EventType) bool {
			return isSpoken(e) || e == engine.EventNodeFinished || e == engine.EventWorkflowFinished
		}
	}
	if !agent && !t.traced {
		return f
	}
	tr := &trail{}
	f.Alters = func(e engine.EventType) bool {
		return e == engine.EventNodeFinished && t.traced || e == engine.EventWorkflowFinished && agent
	}
	f.Change = func(r app.Record) engine.Value {
		if engine.EventType(r.Kind) == engine.EventNodeFinished {
			return f.Frame(tr.add(api.DocumentOf(r.Data)))
		}
		usage := app.Facts(r).Usage
		if usage.IsNull() {
			return engine.Null
		}
		return f.Frame(api.DocumentOf(r.Data).With("data", engine.Object("usage", usage)))
	}
	return f
}

func (presenter027) completer(c completions) api.Handler { return c.chatWithAgent }

func (presenter027) asksPlainly(t *turn) bool {
	return t.session.Source == app.SourceAgent && t.job.Source == app.SourceAPI
}

func (presenter027) datasets() datasets.Dialect { return datasets.Newer() }

func (presenter027) noServer() error { return nil }
