package ragflow

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/datasets"
	"github.com/easel-canvas/easel/host/internal/app"
)

// presenter words and shapes responses for one dialect.
type presenter interface {
	// unknownKey is the answer to a token that is not known.
	unknownKey(path string) error
	// notEditable, notDeletable and noAgent refuse a canvas that the principal does not have: to
	// change it, to delete it (as text), and to begin a session with it.
	notEditable() error
	notDeletable() string
	noAgent() error

	// releases reports whether a request with release publishes a version, or gets the published
	// one.
	releases(asked bool) bool
	// addPublication adds to the row of a canvas when it was published.
	addPublication(b *engine.ObjectBuilder, v app.Canvas)
	// versionTitle names a version that is made now.
	versionTitle(title string, nickname func() string) string
	// titleCategory is the category in which a title is used once, "" for all.
	titleCategory(category string) string
	// duplicate refuses a title like that of a canvas.
	duplicate(v app.Canvas, title, category string) error

	// created and updated respond to a principal that has created or changed an agent.
	created(row func() engine.Value) api.Response
	updated(v app.Canvas) api.Response
	// checksUpdates reports whether a document is loaded before it is written over an agent's.
	checksUpdates() bool
	// listsNewestFirst reports the default order of agents.
	listsNewestFirst() bool
	// listsCanvases reports whether agents are listed with their total, as the editor reads them.
	listsCanvases() bool
	// foreignOwners refuses to list canvases of people outside the tenant; nil lists none.
	foreignOwners() error

	// versionState is whether a version was published, and when it changed last.
	versionState(v app.Version) (published bool, changed int64)
	// orderVersions orders a list of versions.
	orderVersions(list []app.Version)

	// sessionVersion is the title of the version that a session began with.
	sessionVersion(v app.Session) engine.Value
	// newSession completes the row of a session that was made.
	newSession(row engine.Value, v app.Session) engine.Value
	// sessionList answers sessions.
	sessionList(rows engine.Value, total int) api.Response
	// deleteNone answers a request that names no sessions of an agent with so many; nil deletes
	// all.
	deleteNone(all bool, agent string, sessions int) (api.Response, error)
	// deletedSome answers a request of which not all sessions were deleted.
	deletedSome(deleted, problems int, report engine.Value) api.Response

	// completer is the completion of one agent.
	completer(c completions) api.Handler
	// frames formats a completion as a stream.
	frames(t *turn) api.Frames
	// asksPlainly reports whether the response of a paused run, unless streamed, is the form
	// alone.
	asksPlainly(t *turn) bool

	// datasets returns the dialect of datasets.
	datasets() datasets.Dialect

	// noServer is the answer to the detail of an unknown MCP server; nil answers as for other
	// requests.
	noServer() error
}
