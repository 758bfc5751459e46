package app

import (
	"crypto/subtle"
	"errors"
	"slices"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Principal is the authenticated sender of a request: a key, a login, or an embedded page.
type Principal struct {
	Tenant string
	User   string        // a member; "" is none, such as the visitor of an embedded page
	Groups access.Groups // of the member
	Canvas string        // "*" or the one canvas that an embedded page may use; "" for others
	Embeds bool          // it came with the token of an embedded page
	Scopes []string      // what it may do; empty means nothing
	Key    *Key          // the API key; nil for logins and embedded pages
	CSRF   string        // of a login held by a cookie
	Login  string        // id of the login; "" for keys and embedded pages
	Via    string        // how the login began, see [LoginOrigin]
	Caller string        // whose requests and model tokens are counted together
	Rate   int64         // requests per minute; 0 means the host's own limit

	Kind, ID string        // what was authenticated, see [runs.Principal]
	EndUser  string        // user id that the embedding site has signed; "" for none
	Visitor  store.Visitor // whose conversations a request of an embedding page reads; "" for none

	// Act is the action of the request on its object, as its route declares; see [Principal.Check].
	Act access.Action

	whole  bool // see [access.Viewer]
	grants *access.Grants
	reader *access.Reader // of a run; nil means that of the principal
	// embedder is the member whose canvases an embedded page with the Canvas "*" may use.
	embedder string
}

// For returns the principal that uses objects on behalf of a viewer: a run of a canvas, or with
// [access.All] the host itself.
func For(v access.Viewer) Principal {
	return Principal{
		Tenant: v.Tenant, User: v.User, Groups: v.Groups, whole: v.Whole, grants: v.Grants, reader: &v.Reader,
	}
}

// Viewer returns on whose behalf the principal uses objects.
func (p Principal) Viewer() access.Viewer {
	return access.Viewer{
		Tenant: p.Tenant, User: p.User, Groups: p.Groups, Whole: p.whole, Grants: p.grants, Reader: p.Reader(),
	}
}

// Reader returns who reads documents on behalf of the principal. The visitor of an embedding page,
// whose user id a site signs as well, may read what everyone may: a site could sign the id of any
// member.
func (p Principal) Reader() access.Reader {
	switch {
	case p.reader != nil:
		return *p.reader
	case p.Embeds:
		return access.Reader{}
	}
	return access.Reader{User: p.User, Groups: p.Groups, Whole: p.whole}
}

// Using returns the principal that reads what its object names, such as the pipeline of a dataset.
func (p Principal) Using() Principal {
	p.Act = access.See
	return p
}

// Check refuses an action on an object. Errors: [ErrNotFound] for what a principal may not see, and
// [CodeForbidden] with the role that it needs.
func (p Principal) Check(a access.Action, o access.Object) error {
	return refused(p.Viewer().Check(a, o))
}

// refused puts the refusals of package access into words for callers; other errors stay.
func refused(err error) error {
	var role *access.RoleError
	switch {
	case errors.Is(err, access.ErrHidden):
		return ErrNotFound
	case errors.As(err, &role):
		return Forbidden("%s", role)
	}
	return err
}

// May reports whether a principal has a scope.
func (p Principal) May(scope string) bool {
	return slices.Contains(p.Scopes, scope)
}

// Covers reports whether a principal has all of some scopes.
func (p Principal) Covers(scopes []string) bool {
	return !slices.ContainsFunc(scopes, func(s string) bool { return !p.May(s) })
}

// Bounded reports whether a principal has limits that its user does not have: a key that expires,
// or with a rate or a quota, and the token of an embedded page.
func (p Principal) Bounded() bool {
	k := p.Key
	return p.Embeds || k != nil && (k.ExpireTime != 0 || k.Rate != 0 || k.TokensPerDay != 0)
}

// Proves compares what a page sent with the CSRF text of its login.
func (p Principal) Proves(sent string) bool {
	return p.CSRF != "" && subtle.ConstantTimeCompare([]byte(sent), []byte(p.CSRF)) == 1
}

// check refuses what a request does with a canvas: as a viewer, or with the token of an embedded
// page what that is for. Errors: as of Check.
func (p Principal) check(canvas access.Object) error {
	v := p.Viewer()
	switch {
	case !p.Embeds:
	case p.Canvas == "*":
		v.User = p.embedder
	case p.Canvas == canvas.ID && p.Tenant == canvas.Tenant:
		return nil
	default:
		return ErrNotFound
	}
	return refused(v.Check(p.Act, canvas))
}

// mayUse reports whether a principal sees a canvas.
func (p Principal) mayUse(canvas access.Object) bool {
	return !errors.Is(p.check(canvas), ErrNotFound)
}

// owns reports whether a conversation with a canvas is open to a principal: reviewers read all, and
// runners those that are theirs by their user id.
func (p Principal) owns(canvas access.Object, user string) bool {
	return p.Embeds || p.Viewer().Can(access.Review, canvas) || p.User != "" && p.User == user
}

// Actor returns for whom runs of a principal act; see [access.Actor.On].
func (p Principal) Actor() access.Actor {
	if p.Embeds {
		return access.Actor{}
	}
	return access.Actor{User: p.User, As: access.Present}
}

// Alone returns the job of what a principal tries without a run, such as one node: it has the
// rights of the principal, and the limits of its key.
func (p Principal) Alone() *Job {
	return &Job{
		Tenant: p.Tenant, User: p.User, Caller: p.Caller, Actor: p.Actor(), Reader: p.Reader(), Principal: p.Started(),
	}
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
