package api

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/store"
)

// caller is the authenticated principal.
type caller struct {
	tenant string
	user   string
	beta   string   // "*" or the one canvas that an embedded page may use; "" for others
	embeds bool     // it came with a beta token
	scopes []string // what it may do; empty means everything
	csrf   string   // of a login held by a cookie
	rateID string   // whose requests and model tokens are counted together
	rate   int64    // requests per minute; 0 means the host's own limit
}

// Scopes of keys and logins. Those of the host work for the tenant that operates
// it only.
const (
	scopeRead    = "read"
	scopeRun     = "run"
	scopeEdit    = "edit"
	scopeAdmin   = "admin"
	scopeHost    = "host"
	scopeMetrics = "metrics" // its numbers, and nothing else
)

// allScopes are all that a key can have.
var allScopes = []string{scopeRead, scopeRun, scopeEdit, scopeAdmin, scopeHost, scopeMetrics}

// ofHost says whether a scope is about the host, not about a tenant.
func ofHost(scope string) bool { return scope == scopeHost || scope == scopeMetrics }

// may says whether a caller has a scope.
func (w caller) may(scope string) bool { return len(w.scopes) == 0 || slices.Contains(w.scopes, scope) }

// covers says whether a caller may hand out scopes; none means everything.
func (w caller) covers(scopes []string) bool {
	if len(scopes) == 0 {
		return len(w.scopes) == 0
	}
	return !slices.ContainsFunc(scopes, func(s string) bool { return !w.may(s) })
}

// identify authenticates the caller, as far as the route requires it.
func (c *call) identify() error {
	if c.route.need == needNone {
		return nil
	}
	who, err := c.lookup()
	if err != nil {
		return err
	}
	if who.embeds && c.route.need != needBeta {
		return unauthorized()
	}
	if wait := c.a.rates.key(who.rateID, who.rate); wait > 0 {
		return tooMany(wait, "Too many requests; try again later.")
	}
	if err := c.permit(who); err != nil {
		return err
	}
	c.who = who
	return nil
}

// permit refuses a caller that lacks the route's scope.
func (c *call) permit(who caller) error {
	scope := c.route.scope
	switch {
	case scope == "", who.may(scope) && (!ofHost(scope) || who.tenant == c.a.cfg.Operator):
		return nil
	}
	f := refused(codeForbidden, "This key may not %s.", scope)
	if ofHost(scope) {
		f.message = "Only who operates this host may do that."
	}
	f.status = http.StatusForbidden
	return f
}

func (c *call) lookup() (caller, error) {
	token := c.token()
	if token == "" {
		return c.cookie()
	}
	key, err := c.a.cfg.Store.KeyByText(c.ctx(), token)
	if err == nil {
		return caller{tenant: key.Tenant, user: key.User, scopes: key.Scopes, rateID: key.Caller(), rate: key.Rate}, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return caller{}, err
	}
	if c.route.need == needBeta {
		beta, err := c.a.cfg.Store.BetaByText(c.ctx(), token)
		if err == nil {
			canvas := beta.Canvas
			if canvas == "" {
				canvas = "*"
			}
			return caller{tenant: beta.Tenant, user: beta.Tenant, beta: canvas, embeds: true, rateID: "beta " + beta.ID}, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return caller{}, err
		}
	}
	who, err := c.login(token)
	if errors.Is(err, store.ErrNotFound) {
		return caller{}, c.unknown()
	}
	who.csrf = "" // only a cookie needs one
	return who, err
}

// unknown is the response to an unknown token, in the wording of the route.
func (c *call) unknown() error {
	switch {
	case strings.Contains(c.route.path, "/agentbots/") || strings.Contains(c.route.path, "/getsse/"):
		return failed(codeData, `Authentication error: API key is invalid!"`)
	case c.newer():
		return unauthorized()
	case strings.HasPrefix(c.route.path, "/api/v1/") && !strings.HasPrefix(c.route.path, "/api/v1/system"):
		// The code is the original's; the status is for clients that look at nothing else.
		f := refused(codeAuth, "Authentication error: API key is invalid!")
		f.status = http.StatusUnauthorized
		return f
	}
	return unauthorized()
}

// token is what the Authorization header carries, with or without a scheme.
func (c *call) token() string {
	words := strings.Fields(c.r.Header.Get("Authorization"))
	switch {
	case len(words) == 2 && strings.EqualFold(words[0], "bearer"):
		return words[1]
	case len(words) == 1 && !strings.EqualFold(words[0], "bearer"):
		return words[0]
	}
	return ""
}

// proves compares what a page sent with the text of its login.
func (w caller) proves(sent string) bool {
	return w.csrf != "" && subtle.ConstantTimeCompare([]byte(sent), []byte(w.csrf)) == 1
}

// login resolves the text of a login.
func (c *call) login(text string) (caller, error) {
	v, err := c.a.cfg.Store.LoginByText(c.ctx(), text)
	if err != nil {
		return caller{}, err
	}
	member, err := c.a.cfg.Store.Memberships(c.ctx(), v.User)
	if err != nil {
		return caller{}, err
	}
	if len(member) == 0 {
		return caller{}, store.ErrNotFound
	}
	own := ownTenant(member)
	return caller{tenant: own.Tenant, user: v.User, scopes: scopesOf(own.Role), csrf: v.CSRF, rateID: "user " + v.User}, nil
}

// Roles of members. Who is only a member works with canvases.
const (
	roleOwner  = "owner"
	roleAdmin  = "admin"
	roleNormal = "normal"
)

// scopesOf is what a member in a role may do.
func scopesOf(role string) []string {
	if role == roleOwner || role == roleAdmin {
		return nil
	}
	return []string{scopeRead, scopeRun, scopeEdit}
}

// mayReach reports whether a caller may stop and trace a run. An embedding page may with those
// that pages began, not with those of the canvas's owner.
func (w caller) mayReach(run store.Run) bool {
	return w.mayUse(run.Canvas) && (!w.embeds || run.Source == sourceBot)
}

// mayUse says whether a caller may use a canvas of its tenant.
func (w caller) mayUse(canvas string) bool {
	return !w.embeds || w.beta == "*" || w.beta == canvas
}
