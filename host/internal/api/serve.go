package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
)

// RunHeader holds the id of the run that a request started, in every dialect, and SessionHeader
// that of the conversation of a visitor.
const (
	RunHeader     = "X-Easel-Run"
	SessionHeader = "X-Easel-Session"
)

// serve answers one request.
func (a *API) serve(w http.ResponseWriter, hr *http.Request) {
	began := time.Now()
	a.cors.set(w, hr)
	r := &Request{api: a, Writer: w, HTTP: hr, Body: Body{Value: emptyBody}}
	var allow []string
	r.Route, r.Params, allow = a.routes.find(hr)
	if len(allow) > 0 {
		w.Header().Set("Allow", strings.Join(allow, ", "))
	}
	if hr.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if r.Route == nil {
		r.Route = &Route{}
		a.cfg.Unrouted(r, len(allow) > 0)
		a.metrics.count("none", began)
		return
	}
	hr.Pattern = r.Route.Path // for the handler around this one
	defer r.Free()
	defer a.streams.leave(r)
	defer a.metrics.count(r.Route.Path, began)
	defer func() {
		if p := recover(); p != nil {
			a.cfg.Logger.Error("request panicked",
				"route", r.Route.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if !r.begun {
				f := &Failure{Kind: KindInternal, Message: "the request broke; the host's log says why", HasData: true}
				a.fail(r, f, f)
			}
		}
	}()
	if err := a.answer(r); err != nil {
		a.refuse(r, err)
	}
}

// answer identifies the principal, then reads the body, calls the handler, and writes its response.
func (a *API) answer(r *Request) error {
	if err := checkURL(r.HTTP); err != nil {
		return err
	}
	r.Query = Query{r.HTTP.URL.Query()}
	if err := a.identify(r); err != nil {
		return err
	}
	if r.Route.Events {
		if err := a.streams.enter(r); err != nil {
			return err
		}
		defer a.recheck(r)()
	}
	if check := r.Route.CheckQuery; check != nil {
		if err := check(r.Query.Values); err != nil {
			return err
		}
	}
	switch {
	case r.Route.OwnBody:
		if err := r.CheckBody(r.MaxBody()); err != nil {
			return err
		}
	case !r.Route.Body.streamed():
		if err := r.readBody(); err != nil {
			return err
		}
	}
	if err := a.identifyVisitor(r); err != nil {
		return err
	}
	ctx := audited(app.WithMemory(r.HTTP.Context(), r), r)
	response, err := r.Route.Handler(ctx, r)
	if err == nil {
		err = a.cfg.Services.Audit.Finish(ctx)
	}
	if err != nil {
		return err
	}
	return response.Write(r)
}

// refuse answers an error, unless the answer has begun.
func (a *API) refuse(r *Request, err error) {
	f, internal := AsFailure(err)
	f = f.plain()
	if internal && !errors.Is(err, context.Canceled) {
		id := rand.Text()
		if message := away(err); message == "" || a.outages.note(a.cfg.Logger, message) {
			a.cfg.Logger.Error("request failed", "route", r.Route.Path, "request", id, "err", err)
			f = f.inLog(id)
		}
	}
	if r.begun || r.left {
		return
	}
	a.fail(r, f, err)
}

// fail answers a failure in the form of the request, of its route or of the API.
func (a *API) fail(r *Request, f *Failure, err error) {
	switch {
	case r.Fail != nil:
		r.Fail(r, f, err)
	case r.Route.Fail != nil:
		r.Route.Fail(r, f, err)
	default:
		a.cfg.Fail(r, f, err)
	}
}

// failPlain answers a failure as text.
func failPlain(r *Request, f *Failure, err error) {
	SetRetryAfter(r.Writer.Header(), f.After)
	http.Error(r.Writer, f.Message, StatusFor(f, err).HTTP)
}

// unrouted answers an unknown path, and with known one that has other methods, as text.
func unrouted(r *Request, known bool) {
	status := http.StatusNotFound
	if known {
		status = http.StatusMethodNotAllowed
	}
	http.Error(r.Writer, http.StatusText(status), status)
}

// Need is the authentication that a route requires.
type Need int

// The principals that may call a route.
const (
	NeedUser Need = iota // an API key or a login
	NeedBeta             // the token of an embedded page, an API key or a login
	NeedNone
)

// Route is one path with one or more methods. Parts in braces are parameters.
type Route struct {
	Method  string // "GET", or several as "GET POST"
	Path    string
	Need    Need
	Scope   string // what the principal must be allowed, of [app.Scopes]; "" for nothing
	Body    BodyClass
	Handler Handler

	Fail ErrorForm // nil answers failures as [Config].Fail does
	// UnknownKey is the answer to a token that is not known; nil means [Unauthorized].
	UnknownKey func() error
	// CheckQuery refuses a query; nil ignores parameters that are not known.
	CheckQuery func(url.Values) error

	OwnBody bool // the handler reads the body itself, with [ReadJSON]
	Events  bool // an EventSource may read it
	PageRun bool // a canvas that runs in the host's page may call it
	Alters  bool // its GET changes something, so a login cookie needs its CSRF text
	Audit   bool // it is in the audit log, though its method or scope is none of an act

	On  access.Kind   // of the object that it uses; see package faces
	Act access.Action // what it does with the object

	Action string // its name in the audit log; "" means method and path

	parts []string
	takes []string // its methods, with the HEAD that comes with GET
}

// router finds routes. net/http's own refuses patterns that overlap, such as
// /v1/canvas/get/{id} and /v1/canvas/{id}/sessions, which clients need.
type router struct {
	list     []Route
	byLength map[int][]*Route // literal parts before parameters
}

func newRouter(list []Route) router {
	r := router{list: list, byLength: map[int][]*Route{}}
	for _, one := range list {
		one.parts = strings.Split(strings.TrimPrefix(one.Path, "/"), "/")
		if one.takes = strings.Fields(one.Method); slices.Contains(one.takes, http.MethodGet) {
			one.takes = append(one.takes, http.MethodHead)
		}
		r.byLength[len(one.parts)] = append(r.byLength[len(one.parts)], &one)
	}
	for _, routes := range r.byLength {
		slices.SortStableFunc(routes, func(a, b *Route) int {
			for i := range a.parts {
				pa, pb := isParameter(a.parts[i]), isParameter(b.parts[i])
				if pa != pb && pa {
					return 1
				} else if pa != pb {
					return -1
				}
			}
			return 0
		})
	}
	return r
}

func isParameter(part string) bool { return strings.HasPrefix(part, "{") }

// find returns the route of a request with its parameters, or, for the header Allow, the methods of
// its path.
func (r *router) find(req *http.Request) (found *Route, params map[string]string, allow []string) {
	parts := strings.Split(strings.TrimPrefix(strings.TrimSuffix(req.URL.EscapedPath(), "/"), "/"), "/")
	for _, one := range r.byLength[len(parts)] {
		params, ok := one.match(parts)
		if !ok {
			continue
		}
		if slices.Contains(one.takes, req.Method) {
			return one, params, nil
		}
		allow = append(allow, one.takes...)
	}
	if len(allow) > 0 {
		allow = append(allow, http.MethodOptions)
	}
	slices.Sort(allow)
	return nil, nil, slices.Compact(allow)
}

func (r *Route) match(parts []string) (map[string]string, bool) {
	var params map[string]string
	for i, want := range r.parts {
		if !isParameter(want) {
			if parts[i] != want {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(parts[i])
		if err != nil || value == "" || value == "." || value == ".." {
			return nil, false
		}
		if params == nil {
			params = map[string]string{}
		}
		params[strings.Trim(want, "{}")] = value
	}
	return params, true
}
