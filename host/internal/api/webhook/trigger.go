package webhook

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Bounds of requests to the plugin of a schedule. The plugin checks their proof, so what comes
// before costs little.
const maxTriggerBody = 1 << 20

var triggerRate = api.Limit{PerSecond: 10, Burst: 100}

// TriggerRoutes are the addresses whose requests go to plugins that begin runs; fail is the form of
// their errors.
func (f *Face) TriggerRoutes(fail api.ErrorForm) []api.Route {
	return []api.Route{{
		Method: Methods, Path: "/api/webhooks/{tenant}/{schedule}", Body: api.BodyWebhook, Need: api.NeedNone,
		Handler: f.trigger, Fail: fail,
	}}
}

// trigger passes a request to the plugin of a schedule and responds with the plugin's response.
func (f *Face) trigger(ctx context.Context, r *api.Request) (api.Response, error) {
	tenant, id := r.Params["tenant"], r.Params["schedule"]
	if wait := f.hooks.Take(tenant+" "+id, triggerRate); wait > 0 {
		return nil, api.TooMany(wait, "Too many requests for this webhook; try again later.")
	}
	if err := r.CheckBody(maxTriggerBody); err != nil {
		return nil, err
	}
	body, err := r.ReadText(maxTriggerBody)
	if err != nil {
		return nil, err
	}
	in := contract.TriggerRequest{
		Method: r.HTTP.Method, URL: r.HTTP.URL.RequestURI(), Body: []byte(body),
		Query: map[string]string{}, Headers: map[string]string{"host": r.HTTP.Host},
	}
	for name, values := range r.Query.Values {
		in.Query[name] = values[0]
	}
	for name, values := range r.HTTP.Header {
		if name != "Cookie" { // of people who are signed in to this host
			in.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
		}
	}
	answer, err := f.services.Schedules.Hook(ctx, tenant, id, in)
	if err != nil {
		return nil, triggerFailure(r, err)
	}
	h := r.Writer.Header()
	// The body is of a plugin and must be no page of this host.
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	return api.Raw(answer.Status, answer.ContentType+"; charset=utf-8", []byte(answer.Body)), nil
}

// triggerStatus are the statuses of errors that the plugin itself returns; the sender reads their
// messages.
var triggerStatus = map[contract.Code]int{
	contract.InvalidArgument: http.StatusBadRequest, contract.Unauthorized: http.StatusUnauthorized,
	contract.NotFound: http.StatusNotFound, contract.RateLimited: http.StatusTooManyRequests,
	contract.Upstream: http.StatusBadGateway,
}

// triggerFailure is the answer to a request that began no run. Faults of the plugin are for the
// operator: the sender learns only that it may try again.
func triggerFailure(r *api.Request, err error) error {
	var e *contract.Error
	if !errors.As(err, &e) {
		return err
	}
	if status, ok := triggerStatus[e.Code]; ok {
		if ms, given := e.Data.Get("retry_after_ms").Int(); given && ms > 0 {
			r.Writer.Header().Set("Retry-After", strconv.FormatInt((ms+999)/1000, 10))
		}
		return &api.Status{HTTP: status, Code: string(e.Code), Message: e.Message}
	}
	r.Logger().Warn("plugin of a webhook failed", "schedule", r.Params["schedule"], "err", err)
	const text = "the plugin of this webhook failed; the host's log says more"
	if e.Code == contract.Unavailable {
		return &api.Status{HTTP: http.StatusServiceUnavailable, Code: string(e.Code), Message: text}
	}
	return &api.Status{HTTP: http.StatusBadGateway, Code: "plugin", Message: text}
}
