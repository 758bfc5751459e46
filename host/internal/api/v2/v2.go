// Package v2 is our own API under /api/v2: real HTTP statuses, errors as {"error": {"code",
// "message"}}, names without history.
//
// An operation is a typed function: bind.go fills its input from a request, and openapi.go
// describes it from the same types.
package v2

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/engine/nearest"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/login"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Prefix is the prefix of all paths.
const Prefix = "/api/v2/"

// Routes returns the routes of the face.
func Routes(s *app.Services, l *login.Face) []api.Route {
	list := operations(s, l)
	routes := make([]api.Route, len(list))
	for i := range list {
		op := &list[i]
		routes[i] = api.Route{
			Method: op.method, Path: op.path, Body: op.body, Need: op.need, Scope: op.scope, Events: op.events,
			Handler: op.handler, Fail: fail, CheckQuery: op.checkQuery, Action: op.name, Audit: op.audit,
		}
	}
	return routes
}

func operations(s *app.Services, l *login.Face) []operation {
	list := slices.Concat(
		canvases{s}.operations(), versions{s}.operations(), runs{s}.operations(), inbox{runs{s}}.operations(),
		schedules{s}.operations(),
		accounts{s, l}.operations(), keys{s}.operations(), tenants{s}.operations(), secrets{s}.operations(),
		models{s}.operations(), plugins{s}.operations(), datasets{s.Datasets, s.Canvases}.operations(),
		memories{s}.operations(), tools{s}.operations(), voice{s}.operations(),
		databases{s}.operations(), webhooks{s}.operations(),
		servers{s}.operations(), usage{s}.operations(), health{s}.operations(), signIns{s}.operations(),
		scripts{s}.operations(),
		audit{s}.operations(), traceSettings{s}.operations(), projects{s}.operations(),
	)
	var all []operation
	spec := sync.OnceValues(func() ([]byte, error) { return specification(all) })
	all = append(list, describeAPI(spec))
	return all
}

// list is rows without paging.
type list[T any] struct {
	Items []T `json:"items"`
}

// errorBody is the body of every failure.
type errorBody struct {
	Error errorText `json:"error"`
}

type errorText struct {
	Code    string `json:"code" jsonschema:"stable code of the error"`
	Message string `json:"message" jsonschema:"human-readable message"`
}

// Fail answers errors in the form of this face for routes that are not operations of it, such as
// requests to the plugins of schedules.
var Fail api.ErrorForm = fail

// fail answers an error.
func fail(r *api.Request, f *api.Failure, err error) {
	s := api.StatusFor(f, err)
	api.SetRetryAfter(r.Writer.Header(), f.After)
	_ = api.JSON(s.HTTP, errorBody{errorText{s.Code, api.WithoutGoNames(s.Message)}}).Write(r) // never an error
}

// Unrouted answers an unknown path, and with known one that has other methods.
func Unrouted(r *api.Request, known bool) {
	path := r.HTTP.URL.Path
	s := &api.Status{HTTP: http.StatusNotFound, Code: "no_route", Message: "there is nothing at " + path}
	if known {
		s = &api.Status{
			HTTP: http.StatusMethodNotAllowed, Code: "bad_method", Message: path + " does not take " + r.HTTP.Method,
		}
	}
	_ = api.JSON(s.HTTP, errorBody{errorText{s.Code, s.Message}}).Write(r) // never an error
}

// checkQuery refuses query parameters that an operation does not read: a misspelt filter would
// select everything. The dialects ignore them, as the original does.
func (op *operation) checkQuery(query url.Values) error {
	if len(query) == 0 {
		return nil
	}
	var known []string
	for _, p := range op.params {
		if p.in == "query" {
			known = append(known, p.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if slices.Contains(known, name) {
			continue
		}
		text := fmt.Sprintf("unknown query parameter %.40q", name)
		if len(known) == 0 {
			return badQuery("%s: this address takes no query parameters", text)
		}
		text += " (one of " + strings.Join(known, ", ") + ")"
		if match, ok := nearest.Match(name, known); ok {
			text += fmt.Sprintf("; did you mean %s?", match)
		}
		return badQuery("%s", text)
	}
	return nil
}

// badQuery is the answer to a query parameter that is not known or has a value that none can have.
func badQuery(format string, args ...any) error {
	return &api.Status{HTTP: http.StatusBadRequest, Code: app.CodeBadArgument, Message: fmt.Sprintf(format, args...)}
}
