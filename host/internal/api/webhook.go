package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Webhooks: a canvas whose Begin has the mode Webhook is started by a request
// that brings its own proof of who sends it (webhook_security.go), in the form
// that the canvas asks for (webhook_payload.go). Nothing of the run is kept but
// its history.
var webhookRoutes = []route{
	{method: webhookMethods, path: "/api/v1/webhook/{id}", body: bodyWebhook, need: needNone, answer: (*API).webhook},
	{method: webhookMethods, path: "/api/v1/agents/{id}/webhook", body: bodyWebhook, need: needNone, answer: (*API).webhook},
	{method: webhookMethods, path: "/api/v1/webhook_test/{id}", body: bodyWebhook, scope: scopeRun, alters: true, answer: (*API).webhookTest},
	{method: webhookMethods, path: "/api/v1/agents/{id}/webhook/test", body: bodyWebhook, scope: scopeRun, alters: true, answer: (*API).webhookTest},
	{method: "GET", path: "/api/v1/webhook_trace/{id}", body: bodyNone, scope: scopeRead, answer: (*API).webhookTrace},
	{method: "GET", path: "/api/v1/agents/{id}/webhook/logs", body: bodyNone, scope: scopeRead, answer: (*API).webhookTrace},
}

// webhookMethods are all that a canvas may choose from.
const webhookMethods = "GET POST PUT PATCH DELETE"

// badWebhook is a refusal: HTTP 400, code 400.
func badWebhook(format string, args ...any) *failure {
	f := failed(codeBad, format, args...)
	f.status = http.StatusBadRequest
	return f
}

// webhook answers a request from outside.
func (a *API) webhook(c *call) error {
	id := c.params["id"]
	tenant, err := a.cfg.Store.CanvasTenant(c.ctx(), id)
	if errors.Is(err, store.ErrNotFound) {
		return badWebhook("Canvas not found.")
	}
	if err != nil {
		return err
	}
	v, err := a.cfg.Store.Canvas(c.ctx(), tenant, id)
	if err != nil {
		return err
	}
	return c.runWebhook(v, false)
}

// webhookTest does the same for the owner and keeps what happens for the page
// that watches.
func (a *API) webhookTest(c *call) error {
	denied := refused(codeOperating, notOwner)
	if c.newer() {
		denied = refused(codeOperating, notOwnerNewer)
	}
	v, err := c.canvas(c.params["id"], denied)
	if err != nil {
		return err
	}
	return c.runWebhook(v, true)
}

// runWebhook checks a request in the order that clients know, and runs it.
func (c *call) runWebhook(v store.Canvas, test bool) error {
	begin, err := c.webhookConfig(v)
	if err != nil {
		return err
	}
	security, err := openWebhookKeys(c, v.Tenant, begin.Get("security"))
	if err != nil {
		return err
	}
	if err := c.webhookSecurity(v.ID, security); err != nil {
		return err
	}
	if _, err := c.a.cfg.Runs.Load(v.DSL); err != nil {
		return badWebhook("%s", err)
	}
	payload, err := c.webhookPayload(v, begin)
	if err != nil {
		return err
	}
	mode := begin.Get("execution_mode")
	now := mode.IsNull() || mode.Str() == "Immediately"
	status := http.StatusOK
	if now {
		if status, err = responseStatus(begin.Get("response").Get("status")); err != nil {
			return err
		}
	}
	j, err := c.startRun(runs.Job{
		Tenant: v.Tenant, Canvas: v.ID, User: v.User, Source: "webhook", Query: engine.String(""), Webhook: payload,
	})
	if err != nil {
		f, internal := asFailure(err)
		if internal || f.status >= http.StatusInternalServerError {
			return err // not the sender's fault: it should come again
		}
		return badWebhook("%s", f.message)
	}
	if test {
		// Requests refused before this point are reported by the response alone.
		go c.a.watchTest(context.WithoutCancel(c.ctx()), c.a.tests.begin(v.ID), j.ID)
	}
	if now {
		return c.answerTemplate(status, begin.Get("response").Get("body_template"))
	}
	return c.answerWebhook(j.ID)
}

// webhookConfig is the params of the node that the canvas starts at, if it takes webhooks and
// this method.
func (c *call) webhookConfig(v store.Canvas) (engine.Value, error) {
	if v.Category == "dataflow_canvas" {
		return engine.Null, badWebhook("Dataflow can not be triggered by webhook.")
	}
	doc := document(v.DSL)
	if doc.Kind() != engine.KindObject {
		return engine.Null, badWebhook("Invalid DSL format.")
	}
	for _, entry := range doc.Get("components").Fields() {
		obj := entry.Get("obj")
		spec, err := c.a.cfg.Registry.Lookup(obj.Get("component_name").Str())
		if err != nil || spec.Role != engine.RoleStart || obj.Get("params").Get("mode").Str() != "Webhook" {
			continue
		}
		params := obj.Get("params")
		if methods := texts(params.Get("methods")); len(methods) > 0 && !slices.Contains(methods, c.r.Method) {
			return engine.Null, badWebhook("HTTP method '%s' not allowed for this webhook.", c.r.Method)
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

// answerTemplate answers immediately; the run continues.
func (c *call) answerTemplate(status int, template engine.Value) error {
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
	return c.webhookAnswer(status, kind, body)
}

// answerWebhook waits for the run and answers with what it said.
func (c *call) answerWebhook(run string) error {
	said, end, err := c.gather(run, nil)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if n, err := strconv.Atoi(said.Status.Text()); err == nil && n >= 200 && n <= 599 {
		status = n
	}
	v := engine.Object("message", said.Text.String(), "success", true, "code", status)
	if end.Status == store.RunFailed {
		status = http.StatusBadRequest
		v = engine.Object("code", codeBad, "message", end.Error, "success", false)
	}
	return c.webhookAnswer(status, "application/json", appendASCII(nil, v.AppendText(nil)))
}

// webhookAnswer sends a body under a status of the canvas's choice. The
// original writes these answers with blanks and members in order, unlike all
// others.
func (c *call) webhookAnswer(status int, kind string, body []byte) error {
	c.w.Header().Set("Content-Type", kind)
	c.w.WriteHeader(status)
	if status != http.StatusNoContent && status != http.StatusNotModified {
		_, _ = c.w.Write(body) // the client is gone when this fails
	}
	return nil
}

// watchTest keeps the events of a test run.
func (a *API) watchTest(ctx context.Context, test *webhookRun, run string) {
	end := runs.End{Status: store.RunFailed, Error: "the run broke off"}
	err := a.cfg.Runs.Follow(ctx, run, runlog.Pos{}, func(r runlog.Record) bool {
		if r.Kind == runs.KindEnd {
			end = runs.EndOf(r)
		} else if engine.EventType(r.Kind).Wire() {
			test.add(document(r.Data), engine.JSONSize(string(r.Data)))
		}
		return true
	})
	if err != nil {
		f, _ := asFailure(err)
		end.Error = f.message
	}
	if end.Status == store.RunFailed {
		test.add(engine.Object("event", "error", "message", end.Error, "error_type", end.Code), int64(len(end.Error)))
	}
	test.finish(end.Status != store.RunFailed)
}
