package api

import (
	"context"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

// ownRoutes serve load balancers and monitoring.
func (a *API) ownRoutes() []Route {
	return []Route{
		{Method: "GET", Path: "/healthz", Body: BodyNone, Need: NeedNone, Handler: answerAlive},
		{Method: "GET", Path: "/readyz", Body: BodyNone, Need: NeedNone, Handler: Ready},
		{Method: "GET", Path: "/metrics", Body: BodyNone, Scope: app.ScopeMetrics, Handler: a.answerMetrics},
	}
}

func answerAlive(context.Context, *Request) (Response, error) { return Plain("ok\n"), nil }

func (a *API) answerMetrics(context.Context, *Request) (Response, error) {
	return ResponseFunc(func(r *Request) error {
		a.Metrics().ServeHTTP(r.Writer, r.HTTP)
		return nil
	}), nil
}

// PingTime bounds a check of the database and the run log.
const PingTime = 3 * time.Second

// Ready answers whether records and run log can be reached.
func Ready(ctx context.Context, r *Request) (Response, error) {
	pinging, done := context.WithTimeout(ctx, PingTime)
	defer done()
	check := func(err error) string {
		if err != nil {
			if ctx.Err() == nil { // else the client has disconnected
				r.Logger().Warn("not ready", "err", err)
			}
			return "nok"
		}
		return "ok"
	}
	health := r.api.cfg.Services.Health
	records, log := check(health.Store(pinging)), check(health.Log(pinging))
	status, all := http.StatusOK, "ok"
	if records != "ok" || log != "ok" {
		status, all = http.StatusServiceUnavailable, "nok"
	}
	state := engine.Object("status", all, "db", records, "log", log)
	if health.LogDamaged() {
		state = state.With("log_files", engine.String("damaged"))
	}
	if health.DatabaseDamage() != nil {
		state = state.With("db_files", engine.String("damaged"))
	}
	return Sorted(status, state), nil
}
