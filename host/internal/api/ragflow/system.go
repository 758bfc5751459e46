package ragflow

import (
	"context"
	"strconv"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// system is the state of the host.
type system struct{ *face }

func (s system) routes() []api.Route {
	var list []api.Route
	for _, prefix := range []string{"/v1/system", "/api/v1/system"} {
		open := func(name string, h api.Handler) api.Route {
			return api.Route{Method: "GET", Path: prefix + name, Body: api.BodyNone, Need: api.NeedNone, Handler: h}
		}
		read := func(name string, h api.Handler) api.Route {
			return api.Route{Method: "GET", Path: prefix + name, Body: api.BodyNone, Scope: app.ScopeRead, Handler: h}
		}
		list = append(list, read("/version", s.version), open("/config", config), open("/ping", ping),
			open("/healthz", api.Ready), read("/status", s.status))
	}
	return list
}

func (s system) version(context.Context, *api.Request) (api.Response, error) {
	return envelope.OK(engine.String(s.Version)), nil
}

// config describes the login page: registration is off, and passwords always log in. There is
// no other kind of login that it could be switched off for.
func config(context.Context, *api.Request) (api.Response, error) {
	return envelope.OK(engine.Object("registerEnabled", 0, "disablePasswordLogin", false)), nil
}

func ping(context.Context, *api.Request) (api.Response, error) { return api.Plain("pong"), nil }

// status is the state of the host's parts under the original's names: the run log keeps files and
// short-lived keys, which the original has in its storage and in Redis.
func (s system) status(ctx context.Context, r *api.Request) (api.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, api.PingTime)
	defer cancel()
	part := func(kind, name string, ping func(context.Context) error) engine.Value {
		began := time.Now()
		err := ping(ctx)
		elapsed := strconv.FormatFloat(float64(time.Since(began).Microseconds())/1000, 'f', 1, 64)
		v := engine.Object(kind, name, "status", "green", "elapsed", elapsed)
		if err != nil {
			r.Logger().Warn("part of the host is not available", "part", kind, "err", err)
			v = v.With("status", engine.String("red")).With("error", engine.String(name+" does not answer"))
		}
		return v
	}
	health := s.Services.Health
	storage := part("storage", "nats", health.Log)
	if storage.Get("status").Text() == "green" && health.LogDamaged() {
		storage = storage.With("status", engine.String("yellow"))
		storage = storage.With("error", engine.String("files are damaged; see the log"))
	}
	database := part("database", health.Engine(), health.Store)
	if database.Get("status").Text() == "green" && health.DatabaseDamage() != nil {
		database = database.With("status", engine.String("yellow"))
		database = database.With("error", engine.String("its file is damaged; see the log"))
	}
	return envelope.OK(engine.Object(
		"database", database, "storage", storage,
		"runs", s.Services.Runs.Active(), "task_executor_heartbeats", engine.Object(),
	)), nil
}
