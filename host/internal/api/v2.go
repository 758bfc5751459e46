package api

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Our own API: real HTTP statuses, errors as {"error": {"code", "message"}},
// names without history. v2_canvas.go and v2_run.go hold the handlers,
// v2_events.go the resumable stream, openapi.go the description that is made
// from the table below.
var v2Routes = []route{
	{method: "GET", path: "/api/v2/canvases", body: bodyNone, scope: scopeRead, answer: (*API).v2ListCanvases, doc: &v2Doc{
		name: "listCanvases", about: "Canvases of the caller, newest change first.", out: schemaOf[v2Canvases](),
		query: []string{"keywords", "page", "page_size", "orderby", "desc"},
	}},
	{method: "POST", path: "/api/v2/canvases", body: bodyCanvas, scope: scopeEdit, answer: (*API).v2CreateCanvas, doc: &v2Doc{
		name: "createCanvas", about: "Saves a new canvas.", in: schemaOf[v2CanvasInput](), out: schemaOf[v2Canvas](), status: http.StatusCreated,
	}},
	{method: "GET", path: "/api/v2/canvases/{id}", body: bodyNone, scope: scopeRead, answer: (*API).v2GetCanvas, doc: &v2Doc{
		name: "getCanvas", about: "One canvas with its document.", out: schemaOf[v2Canvas](),
	}},
	{method: "PUT", path: "/api/v2/canvases/{id}", body: bodyCanvas, scope: scopeEdit, answer: (*API).v2UpdateCanvas, doc: &v2Doc{
		name: "updateCanvas", about: "Changes the members that are given. With rev, only over that revision.",
		in: schemaOf[v2CanvasInput](), out: schemaOf[v2Canvas](),
	}},
	{method: "DELETE", path: "/api/v2/canvases/{id}", body: bodyTiny, scope: scopeEdit, answer: (*API).v2DeleteCanvas, doc: &v2Doc{
		name: "deleteCanvas", about: "Removes a canvas with its versions and schedules; sessions stay.", status: http.StatusNoContent,
	}},
	{method: "POST", path: "/api/v2/canvases/{id}/validate", body: bodyCanvas, scope: scopeRead, answer: (*API).v2Validate, doc: &v2Doc{
		name: "validateCanvas", about: "Everything that is wrong with the saved document, or with one that is sent.",
		in: schemaOf[v2Document](), out: schemaOf[v2Diagnostics](),
	}},
	{method: "POST", path: "/api/v2/canvases/{id}/sessions", body: bodySmall, scope: scopeRun, answer: (*API).v2CreateSession, doc: &v2Doc{
		name: "createSession", about: "Begins a conversation with a copy of the canvas.", in: schemaOf[v2SessionInput](),
		out: schemaOf[v2Session](), status: http.StatusCreated,
	}},
	{method: "POST", path: "/api/v2/canvases/{id}/runs", body: bodyCanvas, scope: scopeRun, answer: (*API).v2StartRun, doc: &v2Doc{
		name: "startRun", about: "Runs the canvas. The answer comes when the run is written down; read its events from events_url. " +
			"With Accept: text/event-stream the events are the answer. The header X-Easel-Run is the id of the run, also in the other dialects.",
		in: schemaOf[v2RunInput](), out: schemaOf[v2Run](), status: http.StatusAccepted, stream: true,
	}},
	{method: "GET", path: "/api/v2/runs", body: bodyNone, scope: scopeRead, answer: (*API).v2ListRuns, doc: &v2Doc{
		name: "listRuns", about: "Run history, newest first. Pass next of a page as after to get the next one; runs that begin meanwhile do not move it.",
		out: schemaOf[v2Runs](), query: []string{"canvas", "session", "schedule", "status", "after", "page", "page_size", "orderby", "desc"},
	}},
	{method: "GET", path: "/api/v2/runs/{id}", body: bodyNone, scope: scopeRead, answer: (*API).v2GetRun, doc: &v2Doc{
		name: "getRun", about: "One run.", out: schemaOf[v2Run](),
	}},
	{method: "GET", path: "/api/v2/runs/{id}/events", body: bodyNone, scope: scopeRead, events: true, answer: (*API).v2Events, doc: &v2Doc{
		name: "runEvents", about: "The events of a run as server-sent events, from its beginning or after Last-Event-ID; nothing is missed and nothing comes twice. " +
			"Clients that cannot set the header put the id into lastEventId. The answer is 204 when the run has ended and the client has all events, so that an EventSource stops. " +
			"An event named takeover says that another host goes on with the run: it voids every event that was received before with its number, which is what its id begins with, or a higher one; events with these numbers follow anew. The last event is named end.",
		stream: true, query: []string{"lastEventId", "after"},
	}},
	{method: "POST", path: "/api/v2/runs/{id}/cancel", body: bodyTiny, scope: scopeRun, answer: (*API).v2Cancel, doc: &v2Doc{
		name: "cancelRun", about: "Stops a run; one that has ended stays as it is.", out: schemaOf[v2Run](), status: http.StatusAccepted,
	}},
	{method: "POST", path: "/api/v2/runs/{id}/rerun", body: bodyCanvas, scope: scopeRun, answer: (*API).v2Rerun, doc: &v2Doc{
		name: "rerun", about: "Runs again from the state before a node's execution, on a copy; the first run stays as it is.",
		in: schemaOf[v2RerunInput](), out: schemaOf[v2Run](), status: http.StatusAccepted, stream: true,
	}},
	{method: "POST", path: "/api/v2/runs/{id}/resume", body: bodyCanvas, scope: scopeRun, answer: (*API).v2Resume, doc: &v2Doc{
		name: "resume", about: "Answers the form that a paused run waits for; what follows is a new run.",
		in: schemaOf[v2ResumeInput](), out: schemaOf[v2Run](), status: http.StatusAccepted, stream: true,
	}},
	{method: "GET", path: "/api/v2/components", body: bodyNone, scope: scopeRead, answer: (*API).v2Components, doc: &v2Doc{
		name: "listComponents", about: "Every component that canvases may place, with the schema of its parameters.", out: schemaOf[v2Components](),
	}},
	{method: "GET", path: "/api/v2/plugins", body: bodyNone, scope: scopeRead, answer: (*API).v2Plugins, doc: &v2Doc{
		name: "listPlugins", about: "Installed plugins, with the schema of their parameters and what they may do for the caller.", out: schemaOf[v2Plugins](),
	}},
	{method: "GET", path: "/api/v2/plugins/grant", body: bodyNone, scope: scopeRead, answer: (*API).v2GetGrant, doc: &v2Doc{
		name: "getPluginGrant", about: "The most that plugins may do for the caller.", out: schemaOf[v2Grant](),
	}},
	{method: "PUT", path: "/api/v2/plugins/grant", body: bodySmall, scope: scopeAdmin, answer: (*API).v2PutGrant, doc: &v2Doc{
		name: "putPluginGrant", about: "Restricts what plugins may do for the caller, whatever was approved for this host.",
		in: schemaOf[v2Grant](), out: schemaOf[v2Grant](),
	}},
	{method: "GET", path: "/api/v2/openapi.json", body: bodyNone, need: needNone, answer: (*API).v2OpenAPI, doc: &v2Doc{
		name: "openapi", about: "This description.", out: schemaOf[map[string]any](), open: true,
	}},
}

// v2Error is the body of every failure of our own API.
type v2Error struct {
	Error v2Problem `json:"error"`
}

type v2Problem struct {
	Code    string `json:"code" jsonschema:"a stable word for the kind of problem"`
	Message string `json:"message" jsonschema:"what went wrong, for people"`
}

// status answers a failure of our own API with an HTTP status.
type status struct {
	http    int
	code    string
	message string
}

func (s *status) Error() string { return s.message }

// failV2 answers an error; f is what the dialects would have said.
func (c *call) failV2(f *failure, err error) {
	s := statusFor(f, err)
	setRetryAfter(c.w.Header(), f.after)
	c.json(s.http, v2Error{v2Problem{s.code, withoutGoNames(s.message)}})
}

// statusFor is the status that an error is, or is translated to.
func statusFor(f *failure, err error) *status {
	var s *status
	if errors.As(err, &s) {
		return s
	}
	return statusOf(f, err)
}

// statusOf translates what the dialects say with codes.
func statusOf(f *failure, err error) *status {
	switch {
	case errors.Is(err, runs.ErrUnpublished):
		return &status{http.StatusConflict, runs.CodeOf(err), "nothing of this canvas is published; publish it first"}
	case errors.Is(err, runs.ErrGone):
		return &status{http.StatusGone, "gone", f.message}
	case errors.Is(err, runs.ErrRecord), errors.Is(err, runs.ErrCanvas):
		return &status{http.StatusUnprocessableEntity, runs.CodeOf(err), f.message}
	case errors.Is(err, store.ErrNotFound), errors.Is(err, runs.ErrSession):
		return &status{http.StatusNotFound, "not_found", "not found"}
	case errors.Is(err, store.ErrConflict):
		return &status{http.StatusConflict, "changed", f.message}
	}
	for _, known := range []struct {
		code   int
		status int
		word   string
	}{
		{codeArgument, http.StatusUnprocessableEntity, "bad_argument"},
		{codeData, http.StatusNotFound, "not_found"},
		{codeOperating, http.StatusForbidden, "forbidden"},
		{codeRunning, http.StatusConflict, "session_busy"},
		{codeForbidden, http.StatusForbidden, "forbidden"},
		{codeAuth, http.StatusUnauthorized, "unauthorized"},
		{codeUnknown, http.StatusUnauthorized, "unauthorized"},
		{codeConflict, http.StatusConflict, "changed"},
	} {
		if f.code == known.code {
			return &status{known.status, known.word, f.message}
		}
	}
	if word, ok := statusWords[f.status]; ok {
		return &status{f.status, word, f.message}
	}
	if _, internal := asFailure(err); f.code == codeException && !internal {
		return &status{http.StatusBadRequest, "bad_request", f.message}
	}
	return &status{http.StatusInternalServerError, "internal", f.message}
}

// statusWords are the codes of failures that have a status of their own.
var statusWords = map[int]string{
	http.StatusBadRequest:            "bad_request",
	http.StatusRequestTimeout:        "body_timeout",
	http.StatusRequestURITooLong:     "url_too_long",
	http.StatusUnsupportedMediaType:  "bad_encoding",
	http.StatusRequestEntityTooLarge: "body_too_large",
	http.StatusTooManyRequests:       "rate_limited",
	http.StatusServiceUnavailable:    "unavailable",
	http.StatusInsufficientStorage:   "storage_full",
}

// json answers a Go value.
func (c *call) json(code int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		c.a.cfg.Logger.Error("answer cannot be written", "route", c.route.path, "err", err)
		code, body = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer cannot be written"}}`)
	}
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.w.WriteHeader(code)
	if _, err := c.w.Write(body); err != nil {
		c.left = true
	}
}

// notFoundV2 is the answer to an id that the caller does not have.
func notFoundV2(what string) error {
	return &status{http.StatusNotFound, "not_found", what + " not found"}
}

// v2Page reads paging: 100 rows unless told otherwise, 1,000 at most.
func (c *call) v2Page(order string) (store.Page, error) {
	p, err := c.page(100, order, true)
	if p.Limit <= 0 || p.Limit > 1000 {
		p.Limit = 1000
	}
	return p, err
}

type v2Components struct {
	Items []engine.Value `json:"items" jsonschema:"what a component is called, does, reads and writes"`
}

func (a *API) v2Components(c *call) error {
	var out v2Components
	for _, s := range a.cfg.Registry.Specs() {
		if !s.Hidden {
			out.Items = append(out.Items, s.Describe())
		}
	}
	c.json(http.StatusOK, out)
	return nil
}

func (a *API) v2OpenAPI(c *call) error {
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if _, err := c.w.Write(a.spec()); err != nil {
		c.left = true
	}
	return nil
}
