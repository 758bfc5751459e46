package v2

import (
	"context"
	"net/url"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// signIns are the OpenID providers of the caller's tenant.
type signIns struct{ *app.Services }

func (s signIns) operations() []operation {
	const admin = app.ScopeAdmin
	return []operation{
		handle(operation{
			method: "GET", path: "/api/v2/oidc", body: api.BodyNone, scope: admin, name: "listSignInProviders",
			about: "List the OpenID providers at which people of the tenant sign in.",
		}, s.list),
		handle(operation{
			method: "PUT", path: "/api/v2/oidc/{provider}", body: api.BodyTiny, scope: admin, name: "putSignInProvider",
			about: "Add or replace an OpenID provider. Register the redirect address of the response there. Only " +
				"owners may, since groups of a provider can make owners.",
		}, s.put),
		handle(operation{
			method: "DELETE", path: "/api/v2/oidc/{provider}", body: api.BodyTiny, scope: admin,
			name: "deleteSignInProvider",
			about: "Delete an OpenID provider. Accounts stay, with their keys, roles and the logins that have begun; " +
				"roles that its groups gave can be changed from then on.",
		}, s.remove),
	}
}

type signInInput struct {
	Name        string            `json:"name,omitempty" jsonschema:"on the button; the id when left out"`
	Issuer      string            `json:"issuer" jsonschema:"address of the provider, https"`
	Client      string            `json:"client" jsonschema:"client id"`
	Secret      string            `json:"secret,omitempty" jsonschema:"client secret; the one of before when left out"`
	Scopes      []string          `json:"scopes,omitempty" jsonschema:"besides openid; default profile and email"`
	GroupsClaim string            `json:"groups_claim,omitempty" jsonschema:"claim with the groups of a person"`
	Roles       map[string]string `json:"roles,omitempty" jsonschema:"roles of groups: owner, admin or normal"`
	NewRole     string            `json:"new_role,omitempty" jsonschema:"role of others; empty refuses them"`
}

type signInView struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Issuer      string            `json:"issuer"`
	Client      string            `json:"client"`
	HasSecret   bool              `json:"has_secret"`
	Scopes      []string          `json:"scopes"`
	GroupsClaim string            `json:"groups_claim,omitempty"`
	Roles       map[string]string `json:"roles,omitempty"`
	NewRole     string            `json:"new_role,omitempty"`
	Fixed       bool              `json:"fixed" jsonschema:"set by the command line of the host"`
	SignIn      string            `json:"sign_in" jsonschema:"path of the button; the redirect address adds /callback"`
}

func signInViewOf(p app.TenantProvider) signInView {
	return signInView{
		p.ID, p.Name, p.Issuer, p.Client, p.Secret != "", p.Scopes, p.GroupsClaim, p.Roles, p.NewRole, p.Fixed,
		"/login/oidc/" + url.PathEscape(p.Key()),
	}
}

func (s signIns) list(ctx context.Context, in byTenant) (list[signInView], error) {
	providers, err := s.Identities.List(ctx, in.Who.Tenant)
	out := list[signInView]{Items: make([]signInView, len(providers))}
	for i, p := range providers {
		out.Items[i] = signInViewOf(p)
	}
	return out, err
}

type putSignIn struct {
	Who  app.Principal
	ID   string `path:"provider"`
	Body signInInput
}

func (s signIns) put(ctx context.Context, in putSignIn) (signInView, error) {
	b := in.Body
	p, err := s.Identities.Put(ctx, in.Who, app.ProviderConfig{
		ID: in.ID, Name: b.Name, Issuer: b.Issuer, Client: b.Client, Secret: b.Secret, Scopes: b.Scopes,
		GroupsClaim: b.GroupsClaim, Roles: b.Roles, NewRole: b.NewRole,
	})
	if err != nil {
		return signInView{}, err
	}
	return signInViewOf(p), nil
}

type signInByID struct {
	Who app.Principal
	ID  string `path:"provider"`
}

func (s signIns) remove(ctx context.Context, in signInByID) (empty, error) {
	return empty{}, s.Identities.Delete(ctx, in.Who, in.ID)
}
