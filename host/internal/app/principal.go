package app

import (
	"crypto/subtle"
	"slices"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Principal is the authenticated sender of a request: a key, a login, or an embedded page.
type Principal struct {
	Tenant string
	User   string   // a member; "" is none, such as the visitor of an embedded page
	Canvas string   // "*" or the one canvas that an embedded page may use; "" for others
	Embeds bool     // it came with the token of an embedded page
	Scopes []string // what it may do; empty means everything
	CSRF   string   // of a login held by a cookie
	Caller string   // whose requests and model tokens are counted together
	Rate   int64    // requests per minute; 0 means the host's own limit

	whole bool // see [access.Viewer]
	// embedder is the member whose canvases an embedded page with the Canvas "*" may use.
	embedder string
}

// For returns the principal that uses objects on behalf of a viewer: a run of a canvas, or with
// [access.All] the host itself.
func For(v access.Viewer) Principal { return Principal{Tenant: v.Tenant, User: v.User, whole: v.Whole} }

// Viewer returns on whose behalf the principal uses objects.
func (p Principal) Viewer() access.Viewer {
	return access.Viewer{Tenant: p.Tenant, User: p.User, Whole: p.whole}
}

// Scopes of keys and logins. Those of the host work for the tenant that operates it only.
const (
	ScopeRead    = "read"
	ScopeRun     = "run"
	ScopeEdit    = "edit"
	ScopeAdmin   = "admin"
	ScopeHost    = "host"
	ScopeMetrics = "metrics" // its numbers, and nothing else
)

// Scopes are all that a key can have.
var Scopes = []string{ScopeRead, ScopeRun, ScopeEdit, ScopeAdmin, ScopeHost, ScopeMetrics}

// OfHost reports whether a scope is about the host, not about a tenant.
func OfHost(scope string) bool { return scope == ScopeHost || scope == ScopeMetrics }

// May reports whether a principal has a scope.
func (p Principal) May(scope string) bool {
	return len(p.Scopes) == 0 || slices.Contains(p.Scopes, scope)
}

// Covers reports whether a principal may grant scopes; none means everything.
func (p Principal) Covers(scopes []string) bool {
	if len(scopes) == 0 {
		return len(p.Scopes) == 0
	}
	return !slices.ContainsFunc(scopes, func(s string) bool { return !p.May(s) })
}

// Proves compares what a page sent with the CSRF text of its login.
func (p Principal) Proves(sent string) bool {
	return p.CSRF != "" && subtle.ConstantTimeCompare([]byte(sent), []byte(p.CSRF)) == 1
}

// mayUse reports whether a principal may use a canvas: what it may as a viewer, or with the token
// of an embedded page what that is for.
func (p Principal) mayUse(id string, canvas access.Object) bool {
	v := p.Viewer()
	switch {
	case !p.Embeds:
	case p.Canvas == "*":
		v.User = p.embedder
	default:
		return p.Canvas == id && p.Tenant == canvas.Tenant
	}
	return v.May(canvas)
}

// Actor returns for whom runs of a principal act; see [access.Actor.On].
func (p Principal) Actor() access.Actor {
	if p.Embeds {
		return access.Actor{}
	}
	return access.Actor{User: p.User, As: access.Present}
}

// Sources of runs, and of sessions.
const (
	SourceAPI      = "api"      // runs of completions
	SourceBot      = "bot"      // runs of embedded pages
	SourceEditor   = "editor"   // runs of the canvas itself
	SourceWebhook  = "webhook"  // runs of webhooks
	SourceOwn      = "v2"       // runs and sessions of /api/v2
	SourceAgent    = "agent"    // sessions of completions
	SourceWorkflow = "workflow" // sessions that completions of the 0.27 dialect make
)

// Roles of members of a tenant.
const (
	RoleOwner  = "owner"
	RoleAdmin  = "admin"
	RoleNormal = "normal"
)

// ScopesOf returns what a member in a role may do. A normal member works with canvases.
func ScopesOf(role string) []string {
	if role == RoleOwner || role == RoleAdmin {
		return nil
	}
	return []string{ScopeRead, ScopeRun, ScopeEdit}
}
