// Package webhook starts canvases whose Begin has the mode Webhook: by a request that carries proof
// of its sender (security.go), in the form that the canvas requires (payload.go). Nothing of the
// run is stored but its history.
package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Face is the webhooks of a host. It is safe for concurrent use.
type Face struct {
	services *app.Services
	hooks    api.Throttle // of webhooks, by canvas
	guesses  api.Throttle // of their tokens and passwords, by canvas and network
	tests    testRuns
}

// New makes the face.
func New(s *app.Services) *Face { return &Face{services: s} }

// Methods are all that a canvas may choose from.
const Methods = "GET POST PUT PATCH DELETE"

// Routes returns the routes of webhooks; denied refuses a test of a canvas by others than its
// owner.
func (f *Face) Routes(denied string) []api.Route {
	test := func(ctx context.Context, r *api.Request) (api.Response, error) { return f.test(ctx, r, denied) }
	open := api.Route{Method: Methods, Body: api.BodyWebhook, Need: api.NeedNone, Handler: f.answer}
	tried := api.Route{Method: Methods, Body: api.BodyWebhook, Scope: app.ScopeRun, Alters: true, Handler: test}
	traced := api.Route{Method: "GET", Body: api.BodyNone, Scope: app.ScopeReadTraces, Handler: f.trace}
	at := func(r api.Route, path string) api.Route {
		r.Path = path
		return r
	}
	return []api.Route{
		at(open, "/api/v1/webhook/{id}"),
		at(open, "/api/v1/agents/{id}/webhook"),
		at(tried, "/api/v1/webhook_test/{id}"),
		at(tried, "/api/v1/agents/{id}/webhook/test"),
		at(traced, "/api/v1/webhook_trace/{id}"),
		at(traced, "/api/v1/agents/{id}/webhook/logs"),
	}
}

// incoming is the request of a webhook while it is answered.
type incoming struct {
	*api.Request
	f    *Face
	most int64   // how many bytes the canvas lets the body have
	text *string // the body, once it is read whole

	signs  bool   // the proof is added here: the owner tests the canvas
	signed []byte // the signature of a request that starts one run only; nil for others
}

// badWebhook is a refusal: HTTP 400, code 400.
func badWebhook(format string, args ...any) *api.Failure {
	f := api.Failed(api.KindRefused, format, args...)
	f.Status = http.StatusBadRequest
	return f
}

// answer answers a request from outside.
func (f *Face) answer(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.services.Canvases.ByID(ctx, r.Params["id"])
	if errors.Is(err, app.ErrNotFound) {
		return nil, badWebhook("Canvas not found.")
	}
	if err != nil {
		return nil, err
	}
	return f.run(ctx, r, v, nil)
}

// test does the same for the owner and stores what happens for the page that watches.
func (f *Face) test(ctx context.Context, r *api.Request, denied string) (api.Response, error) {
	v, err := f.canvas(ctx, r, denied)
	if err != nil {
		return nil, err
	}
	return f.run(ctx, r, v, &r.Who)
}

// canvas finds the canvas of a path; denied is the answer when the principal has none with that id.
func (f *Face) canvas(ctx context.Context, r *api.Request, denied string) (app.Canvas, error) {
	v, err := f.services.Canvases.Get(ctx, r.Who, r.Params["id"])
	if errors.Is(err, app.ErrNotFound) {
		err = api.Refused(api.KindNotOwner, "%s", denied)
	}
	return v, err
}

// run checks a request in the order that clients know, and runs the canvas: for the member who
// tests it, or with nil unattended.
func (f *Face) run(ctx context.Context, r *api.Request, v app.Canvas, tests *app.Principal) (api.Response, error) {
	in := &incoming{Request: r, f: f, signs: tests != nil && r.HTTP.Header.Get(SignHeader) == "true"}
	r.HTTP.Header.Del(SignHeader)
	begin, err := f.config(v, r.HTTP.Method)
	if err != nil {
		return nil, err
	}
	security, err := in.openKeys(ctx, v, begin.Get("security"))
	if err != nil {
		return nil, err
	}
	if err := in.security(v.ID, security); err != nil {
		return nil, err
	}
	if _, err := f.services.Canvases.Load(v.DSL); err != nil {
		return nil, badWebhook("%s", err)
	}
	payload, err := in.payload(ctx, v, begin)
	if err != nil {
		return nil, err
	}
	mode := begin.Get("execution_mode")
	now := mode.IsNull() || mode.Str() == "Immediately"
	status := http.StatusOK
	if now {
		if status, err = responseStatus(begin.Get("response").Get("status")); err != nil {
			return nil, err
		}
	}
	job := app.Job{
		Tenant: v.Tenant, Canvas: v.ID, User: v.User, Source: app.SourceWebhook, Query: engine.String(""),
		Principal: app.StartedByWebhook(v.ID), Webhook: payload,
	}
	if tests != nil {
		job.Actor = tests.Actor()
	} else if in.signed != nil {
		job.ID = signedRun(v.ID, in.signed)
	}
	j, err := r.Start(ctx, job)
	if job.ID != "" && errors.Is(err, app.ErrExists) {
		return nil, badWebhook("Invalid signature: a request with this signature and time has started a run before")
	}
	if err != nil {
		f, internal := api.AsFailure(err)
		if internal || f.Status >= http.StatusInternalServerError {
			return nil, err // not the sender's fault: it should retry
		}
		return nil, badWebhook("%s", f.Message)
	}
	if tests != nil {
		// Requests refused before this point are reported by the response alone.
		go f.watch(context.WithoutCancel(ctx), f.tests.begin(v.ID), j.ID)
	}
	if now {
		return templateAnswer(status, begin.Get("response").Get("body_template")), nil
	}
	return runAnswer(ctx, r, j.ID)
}

// signedRun returns the id of the run that a signed request starts. A copy of the request has the
// same id, which every host refuses as long as the run is in the history.
func signedRun(canvas string, signature []byte) string {
	sum := sha256.Sum256([]byte(canvas + " " + string(signature)))
	return hex.EncodeToString(sum[:16])
}

// config is the params of the node that the canvas starts at, if it takes webhooks and this method.
func (f *Face) config(v app.Canvas, method string) (engine.Value, error) {
	if v.Category == app.DataflowCategory {
		return engine.Null, badWebhook("Dataflow can not be triggered by webhook.")
	}
	doc := f.services.Canvases.Document(v.DSL)
	if doc.Kind() != engine.KindObject {
		return engine.Null, badWebhook("Invalid DSL format.")
	}
	for _, entry := range doc.Get("components").Fields() {
		obj := entry.Get("obj")
		role := f.services.Canvases.Role(obj.Get("component_name").Str())
		if role != engine.RoleStart || obj.Get("params").Get("mode").Str() != "Webhook" {
			continue
		}
		params := obj.Get("params")
		methods := texts(params.Get("methods"))
		if len(methods) > 0 && !slices.Contains(methods, method) {
			return engine.Null, badWebhook("HTTP method '%s' not allowed for this webhook.", method)
		}
		return params, nil
	}
	return engine.Null, badWebhook("Webhook not configured for this agent.")
}

// responseStatus is the status that a canvas wants to answer at once.
func responseStatus(v engine.Value) (int, error) {
	if v.IsNull() || v.Text() == "" {
		return http.StatusOK, nil
	}
	n, err := strconv.Atoi(v.Text())
	if err != nil {
		return 0, badWebhook("Invalid response status code: %s", v.Text())
	}
	if n < 200 || n > 399 {
		return 0, badWebhook("Invalid response status code: %d, must be between 200 and 399", n)
	}
	return n, nil
}

// templateAnswer answers immediately; the run continues. The original writes the answers of
// webhooks with blanks and members in order, unlike all others.
func templateAnswer(status int, template engine.Value) api.Response {
	body, kind := []byte("null"), "application/json"
	if template.Kind() != engine.KindString && template.Truthy() {
		body = template.AppendText(nil)
	} else if text := template.Str(); text != "" {
		if v, err := engine.ParseJSONText(text); err == nil {
			body = v.AppendText(nil)
		} else {
			body, kind = []byte(text), "text/plain; charset=utf-8"
		}
	}
	return api.Raw(status, kind, body)
}

// runAnswer waits for the run and answers with what it said.
func runAnswer(ctx context.Context, r *api.Request, run string) (api.Response, error) {
	said, end, err := r.Gather(ctx, run, nil)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if n, err := strconv.Atoi(said.Status.Text()); err == nil && n >= 200 && n <= 599 {
		status = n
	}
	v := engine.Object("message", said.Text.String(), "success", true, "code", status)
	if end.Status == app.RunFailed {
		status = http.StatusBadRequest
		v = engine.Object("code", status, "message", end.Error, "success", false)
	}
	return api.Raw(status, "application/json", api.AppendASCII(nil, v.AppendText(nil))), nil
}

// watch stores the events of a test run.
func (f *Face) watch(ctx context.Context, test *testRun, run string) {
	end := app.End{Status: app.RunFailed, Error: "the run broke off"}
	err := f.services.Runs.Follow(ctx, run, app.Pos{}, func(r app.Record) bool {
		if r.Kind == app.KindEnd {
			end = app.EndOf(r)
		} else if engine.EventType(r.Kind).Wire() {
			test.add(api.DocumentOf(r.Data), engine.JSONSize(string(r.Data)))
		}
		return true
	})
	if err != nil {
		f, _ := api.AsFailure(err)
		end.Error = f.Message
	}
	if end.Status == app.RunFailed {
		test.add(engine.Object("event", "error", "message", end.Error, "error_type", end.Code), int64(len(end.Error)))
	}
	test.finish(end.Status != app.RunFailed)
}
