package ragflow

import (
	"net/http"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/datasets"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// presenter023 is the dialect of version 0.23.
type presenter023 struct{}

var _ presenter = presenter023{}

func (presenter023) unknownKey(path string) error {
	switch {
	case isEmbedPath(path):
		return unknownEmbedToken()
	case strings.HasPrefix(path, "/api/v1/") && !strings.HasPrefix(path, "/api/v1/system"):
		// The code is the original's; the status is for clients that look at nothing else.
		f := api.Refused(api.KindBadCredentials, "Authentication error: API key is invalid!")
		f.Status = http.StatusUnauthorized
		return f
	}
	return api.Unauthorized()
}

func (presenter023) notEditable() error   { return api.Refused(api.KindNotOwner, envelope.NotOwner) }
func (presenter023) notDeletable() string { return envelope.NotOwner }
func (presenter023) noAgent() error       { return api.Failed(api.KindNotFound, envelope.NoAgent) }

func (presenter023) releases(bool) bool                               { return false }
func (presenter023) addPublication(*engine.ObjectBuilder, app.Canvas) {}

func (presenter023) versionTitle(title string, _ func() string) string {
	return title + "_" + time.Now().Format("2006_01_02_15_04_05")
}

func (presenter023) titleCategory(string) string { return "" }

func (presenter023) duplicate(v app.Canvas, title, category string) error {
	switch {
	case category != "":
		return titleExists(title)
	case v.Title == title: // titles are found in any case
		return api.Failed(api.KindInvalid, "Agent with title %s already exists.", title)
	}
	return nil
}

func titleExists(title string) error { return api.Failed(api.KindInvalid, "%s already exists.", title) }

func (presenter023) created(func() engine.Value) api.Response { return envelope.OK(engine.Bool(true)) }

func (presenter023) updated(app.Canvas) api.Response { return envelope.OK(engine.Bool(true)) }
func (presenter023) checksUpdates() bool             { return false }
func (presenter023) listsNewestFirst() bool          { return false }
func (presenter023) listsCanvases() bool             { return false }
func (presenter023) foreignOwners() error            { return nil }

func (presenter023) versionState(v app.Version) (bool, int64) { return false, v.CreateTime }
func (presenter023) orderVersions([]app.Version)              {}

func (presenter023) sessionVersion(app.Session) engine.Value                 { return engine.Null }
func (presenter023) newSession(row engine.Value, _ app.Session) engine.Value { return row }
func (presenter023) sessionList(rows engine.Value, _ int) api.Response       { return envelope.Result(rows) }

func (presenter023) deletedSome(_, _ int, report engine.Value) api.Response {
	return envelope.Result(report)
}

func (presenter023) deleteNone(_ bool, agent string, n int) (api.Response, error) {
	if n == 0 {
		return nil, api.Failed(api.KindNotFound, "Agent %s has no sessions", agent)
	}
	return nil, nil
}

// frames shows messages only, unless the client requests the trace: older clients read data.content
// of every frame.
func (presenter023) frames(t *turn) api.Frames {
	f := api.Frames{Session: t.session.ID, Done: true, Broke: errorMessage}
	f.Shows = func(e engine.EventType) bool {
		return isSpoken(e) || e == engine.EventNodeFinished && t.traced
	}
	tr := &trail{}
	f.Alters = func(e engine.EventType) bool {
		return e == engine.EventNodeFinished || e == engine.EventUserInputs
	}
	f.Change = func(r app.Record) engine.Value {
		v := api.DocumentOf(r.Data)
		if engine.EventType(r.Kind) == engine.EventNodeFinished {
			return f.Frame(tr.add(v))
		}
		// A client that reads content of every frame shows the tips.
		d := app.Facts(r).Data
		return f.Frame(v.With("data", d.With("content", d.Get("tips"))))
	}
	return f
}

func (presenter023) completer(c completions) api.Handler { return c.complete }

func (presenter023) asksPlainly(*turn) bool { return false }

func (presenter023) datasets() datasets.Dialect { return datasets.Older() }

func (presenter023) noServer() error {
	return &api.Failure{Kind: api.KindNoResource, Message: "success", HasData: true}
}

// unknownEmbedToken is the answer to an embed token that is not known.
func unknownEmbedToken() error {
	return api.Failed(api.KindNotFound, `Authentication error: API key is invalid!"`)
}

// isSpoken reports whether an event is a message or a form of a run.
func isSpoken(e engine.EventType) bool {
	return e == engine.EventMessage || e == engine.EventMessageEnd || e == engine.EventUserInputs
}
