package api

import (
	"errors"
	"strings"

	"github.com/easel-canvas/easel/host/internal/app"
)

// identify authenticates the principal, as far as the route requires it.
func (a *API) identify(r *Request) error {
	if r.Route.Need == NeedNone {
		return nil
	}
	who, err := a.principal(r)
	if err != nil {
		return err
	}
	if who.Embeds && r.Route.Need != NeedBeta {
		return Unauthorized()
	}
	if wait := a.rates.key(who.Caller, who.Rate); wait > 0 {
		return TooMany(wait, "Too many requests; try again later.")
	}
	if err := a.permit(r.Route.Scope, who); err != nil {
		return err
	}
	if who, err = a.cfg.Services.Projects.Viewing(r.HTTP.Context(), who); err != nil {
		return err
	}
	who.Act = r.Route.Act
	r.Who = who
	return nil
}

// identifyVisitor adds what a request proves about the visitor of an embedding page. Its query, or
// a body of JSON, names the session and a user id with the signature of the site.
func (a *API) identifyVisitor(r *Request) error {
	if r.Route.Need != NeedBeta {
		return nil
	}
	member := func(name string) string {
		if v := r.Query.Get(name); v != "" {
			return v
		}
		return r.Body.Text(name)
	}
	claim := app.VisitorClaim{
		Session: member("session_id"), User: member("user_id"), Signature: member("user_signature"),
	}
	if err := r.Body.Valid(); err != nil {
		return err
	}
	who, err := a.cfg.Services.Accounts.Identify(r.HTTP.Context(), r.Who, claim)
	r.Who = who
	return err
}

// permit refuses a principal that lacks the scope of a route.
func (a *API) permit(scope string, who app.Principal) error {
	switch {
	case scope == "", who.May(scope) && (!app.OfHost(scope) || a.cfg.Services.Tenants.Operates(who.Tenant)):
		return nil
	case app.OfHost(scope):
		return Forbidden("Only who operates this host may do that.")
	}
	return LacksScope(scope)
}

// LacksScope is the refusal of a principal without a scope.
func LacksScope(scope string) error {
	return Forbidden("This needs the scope %s, which the key or login does not have.", scope)
}

// principal finds who makes a request by its token, or by the login cookie.
func (a *API) principal(r *Request) (app.Principal, error) {
	token := r.Token()
	if token == "" {
		return a.byCookie(r)
	}
	accounts, ctx := a.cfg.Services.Accounts, r.HTTP.Context()
	who, err := accounts.ByKey(ctx, token)
	if err == nil || !errors.Is(err, app.ErrNotFound) {
		return who, err
	}
	if r.Route.Need == NeedBeta {
		who, err := accounts.ByEmbedToken(ctx, token)
		if err == nil || !errors.Is(err, app.ErrNotFound) {
			return who, err
		}
	}
	who, err = accounts.ByLogin(ctx, token)
	if errors.Is(err, app.ErrNotFound) {
		if r.Route.UnknownKey != nil {
			return app.Principal{}, r.Route.UnknownKey()
		}
		return app.Principal{}, Unauthorized()
	}
	who.CSRF = "" // only a cookie needs one
	return who, err
}

// Token returns the token of the Authorization header, with or without a scheme.
func (r *Request) Token() string {
	words := strings.Fields(r.HTTP.Header.Get("Authorization"))
	switch {
	case len(words) == 2 && strings.EqualFold(words[0], "bearer"):
		return words[1]
	case len(words) == 1 && !strings.EqualFold(words[0], "bearer"):
		return words[0]
	}
	return ""
}
