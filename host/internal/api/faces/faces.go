// Package faces puts the API of a host together: every face and its routes.
package faces

import (
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/login"
	"github.com/easel-canvas/easel/host/internal/api/openai"
	"github.com/easel-canvas/easel/host/internal/api/ragflow"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	v2 "github.com/easel-canvas/easel/host/internal/api/v2"
	"github.com/easel-canvas/easel/host/internal/api/webhook"
)

// New makes the API of a host with all its faces; version is reported to clients. The routes of cfg
// are added to theirs.
func New(cfg api.Config, version string) *api.API {
	cfg.Routes = append(routes(cfg, version), cfg.Routes...)
	cfg.Unrouted, cfg.Fail = unrouted, envelope.Fail
	return api.New(cfg)
}

// routes returns those of all faces.
func routes(cfg api.Config, version string) []api.Route {
	s := cfg.Services
	people, completions, hooks := login.New(s, cfg.Now), openai.New(s), webhook.New(s)
	return declare(slices.Concat(
		ragflow.Routes(ragflow.Config{
			Services: s, Login: people, OpenAI: completions, Webhooks: hooks, Version: version,
		}),
		v2.Routes(s, people), hooks.TriggerRoutes(v2.Fail), completions.Models(), people.Routes(),
	))
}

// unrouted answers an unknown path in the form of the face that it belongs to.
func unrouted(r *api.Request, known bool) {
	path := r.HTTP.URL.Path
	if strings.HasPrefix(path, v2.Prefix) {
		v2.Unrouted(r, known)
		return
	}
	envelope.Unrouted(r, ragflow.WithoutDialect(path), known) // the dialect's prefix is ours
}
