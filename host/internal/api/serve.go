package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

// RunHeader holds the id of the run that a request started, in every dialect.
const RunHeader = "X-Easel-Run"

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
	defer a.metrics.count(r.Route.Path, began)
	defer func() {
		if p := recover(); p != nil {
			a.cfg.Logger.Error("request panicked",
				"route", r.Route.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if !r.begun {
				FailEnvelope(r, Failed(CodeException, "the request broke; the host's log says why"), nil)
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
	response, err := r.Route.Handler(app.WithMemory(r.HTTP.Context(), r), r)
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
		a.cfg.Logger.Error("request failed", "route", r.Route.Path, "request", id, "err", err)
		f = f.inLog(id)
	}
	if r.begun || r.left {
		return
	}
	form := FailEnvelope
	switch {
	case r.Fail != nil:
		form = r.Fail
	case r.Route.Fail != nil:
		form = r.Route.Fail
	}
	form(r, f, err)
}

// Unrouted answers an unknown path, and with known one that has other methods, as the dialects do.
func Unrouted(r *Request, path string, known bool) {
	if known {
		FailEnvelope(r, &Failure{
			Code: CodeException, Message: "<MethodNotAllowed '405: Method Not Allowed'>", HasData: true,
		}, nil)
		return
	}
	v := engine.Object("code", CodeNotFound, "message", "Not Found: "+path, "data", engine.Null, "error", "Not Found")
	_ = Sorted(http.StatusNotFound, v).Write(r) // never an error
}
