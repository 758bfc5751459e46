package v2

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// secrets are the sealed values that canvases use by name.
type secrets struct{ *app.Services }

func (s secrets) operations() []operation {
	return []operation{
		handle(operation{
			method: "GET", path: "/api/v2/secrets", body: api.BodyNone, scope: app.ScopeRead, name: "listSecrets",
			about: "List the names of secrets, which canvases use as {{secret:NAME}} in their own params, and the " +
				"hosts that they may be sent to. Values are not shown.",
		}, s.list),
		handle(operation{
			method: "PUT", path: "/api/v2/secrets/{name}", body: api.BodySmall, scope: app.ScopeEdit, name: "putSecret",
			about: "Create or replace a secret, which is stored encrypted, and the hosts that it may be sent to.",
		}, s.put),
		handle(operation{
			method: "DELETE", path: "/api/v2/secrets/{name}", body: api.BodyTiny, scope: app.ScopeEdit,
			name:  "deleteSecret",
			about: "Delete a secret.",
		}, s.remove),
	}
}

type secretView struct {
	Name    string    `json:"name"`
	Hosts   []string  `json:"hosts,omitempty" jsonschema:"hosts it may be sent to; absent for any host"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Project string    `json:"project" jsonschema:"project whose runners use it; empty for the default project"`
}

type secretInput struct {
	Value   string   `json:"value"`
	Project *string  `json:"project,omitempty" jsonschema:"id of the project whose runners use it; if absent, the stored one is kept, or the default project"`
	Hosts   []string `json:"hosts,omitempty" jsonschema:"hosts it may be sent to, such as example.org, example.org:8443 or *.example.org; an empty list means any; if absent, the stored hosts are kept"`
}

// byTenant is the input of an operation that needs only the principal.
type byTenant struct{ Who app.Principal }

func (s secrets) list(ctx context.Context, in byTenant) (list[secretView], error) {
	all, err := s.Secrets.List(ctx, in.Who)
	out := list[secretView]{Items: make([]secretView, len(all))}
	for i, v := range all {
		out.Items[i] = secretView{v.Name, v.Hosts, timeOf(v.CreateTime), timeOf(v.UpdateTime), v.Project}
	}
	return out, err
}

// timeOf is a time in Unix milliseconds, as UTC.
func timeOf(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// timeOrNil is a time in Unix milliseconds, nil for 0.
func timeOrNil(ms int64) *time.Time {
	if ms <= 0 {
		return nil
	}
	at := timeOf(ms)
	return &at
}

type putSecret struct {
	Who  app.Principal
	Name string `path:"name"`
	Body secretInput
}

func (s secrets) put(ctx context.Context, in putSecret) (empty, error) {
	return empty{}, s.Secrets.PutIn(ctx, in.Who, in.Name, in.Body.Value, in.Body.Hosts, in.Body.Project)
}

type secretByName struct {
	Who  app.Principal
	Name string `path:"name"`
}

func (s secrets) remove(ctx context.Context, in secretByName) (empty, error) {
	return empty{}, s.Secrets.Remove(ctx, in.Who, in.Name)
}
