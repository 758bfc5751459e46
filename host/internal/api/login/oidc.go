package login

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// attemptCookie holds, sealed, what a browser proves when it comes back from a provider. A redirect
// of the provider carries it, so it is not strict.
const attemptCookie = "easel_signin"

// Purposes of sealed texts.
const (
	forAttempt = "sign-in attempt"
	forLink    = "sign-in link"
)

// attempt is a sign-in that a browser began.
type attempt struct {
	Provider string `json:"provider"`
	Next     string `json:"next"`
	Until    int64  `json:"until"` // Unix milliseconds
	app.SignInAttempt
}

// providers are the buttons of a tenant's providers.
func (f *Face) providers(ctx context.Context, tenant, next string) ([]providerLink, error) {
	list, err := f.identities.List(ctx, tenant)
	if err != nil {
		return nil, err
	}
	var out []providerLink
	for _, p := range list {
		address := "/login/oidc/" + url.PathEscape(p.Key()) + "?next=" + url.QueryEscape(next)
		out = append(out, providerLink{p.Name, address})
	}
	return out, nil
}

// base is the address of this host, as the browser has it.
func base(r *api.Request) string {
	scheme := "http://"
	if r.Secure() {
		scheme = "https://"
	}
	return scheme + r.HTTP.Host
}

// redirectTo is where a provider sends the browser back; the provider compares it with its list.
func redirectTo(r *api.Request, p app.TenantProvider) string {
	return base(r) + "/login/oidc/" + url.PathEscape(p.Key()) + "/callback"
}

// setAttempt stores the cookie of an attempt; "" removes it.
func setAttempt(r *api.Request, text string) {
	lasts := app.ArrivalLasts
	if text == "" {
		lasts = -time.Second
	}
	c := cookie(r, attemptCookie, text, lasts)
	c.Path, c.SameSite = "/login/oidc", http.SameSiteLaxMode
	http.SetCookie(r.Writer, &c)
}

// begin sends the browser to a provider. A link of another site leads to the login page, where the
// person decides: a provider that does not ask could sign in somebody else.
func (f *Face) begin(ctx context.Context, r *api.Request) (api.Response, error) {
	p, err := f.identities.Find(ctx, r.Params["provider"])
	if err != nil {
		return f.failed(r, err)
	}
	if site := r.HTTP.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		q := url.Values{"next": {nextPlace(r.Query.Get("next"))}}
		if strings.Contains(p.Key(), "@") {
			q.Set("tenant", p.Tenant)
		}
		return goTo("/login?" + q.Encode())
	}
	address, proof, err := p.Begin(ctx, redirectTo(r, p))
	if err != nil {
		return f.failed(r, err)
	}
	sealed, err := f.identities.Seal(forAttempt, attempt{
		p.Key(), nextPlace(r.Query.Get("next")), f.identities.Now().Add(app.ArrivalLasts).UnixMilli(), proof,
	})
	if err != nil {
		return nil, err
	}
	setAttempt(r, sealed)
	return goTo(address)
}

// taken returns the attempt of the request's browser, which is used up.
func (f *Face) taken(r *api.Request) (attempt, error) {
	var a attempt
	c, err := r.HTTP.Cookie(attemptCookie)
	if err != nil {
		return a, app.ErrSignInAttempt
	}
	setAttempt(r, "")
	err = f.identities.Open(forAttempt, c.Value, &a)
	if err != nil || a.Provider != r.Params["provider"] || f.identities.Now().UnixMilli() > a.Until {
		return attempt{}, app.ErrSignInAttempt
	}
	return a, nil
}

// callback signs in who comes back from a provider.
func (f *Face) callback(ctx context.Context, r *api.Request) (api.Response, error) {
	a, err := f.taken(r)
	if err != nil {
		return f.failed(r, err)
	}
	p, err := f.identities.Find(ctx, a.Provider)
	if err != nil {
		return f.failed(r, err)
	}
	network := api.NetworkOf(r.Client())
	if wait := f.brake.arrivals.Take(network, networkAttempts); wait > 0 {
		return renderRefusal(r, loginView{Words: wordsOf(r.HTTP), Next: home}, api.TooMany(wait, tooManyLogins))
	}
	person, err := p.Finish(ctx, redirectTo(r, p), a.SignInAttempt, r.Query.Values)
	if err != nil {
		return f.refused(ctx, r, p, err)
	}
	arrival := f.identities.Arrive(p, person)
	user, err := f.identities.SignIn(ctx, p, arrival, r.Client().String())
	if err == nil || errors.Is(err, app.ErrUnlinked) {
		f.brake.arrivals.Return(network) // what succeeds does not count
	}
	if errors.Is(err, app.ErrUnlinked) {
		return f.askLink(r, p, arrival, a.Next, loginView{Words: wordsOf(r.HTTP), Email: person.Email}, http.StatusOK)
	}
	if err != nil {
		return f.refused(ctx, r, p, err)
	}
	from := app.LoginOrigin{Via: viaProvider + p.Key(), Token: person.Token}
	if _, err := f.beginBy(r, user, true, from); err != nil {
		return nil, err
	}
	return goTo(a.Next)
}

// askLink shows the form for the password that links a person to an account.
func (f *Face) askLink(
	r *api.Request, p app.TenantProvider, arrival app.Arrival, next string, v loginView, code int,
) (api.Response, error) {
	sealed, err := f.identities.Seal(forLink, arrival)
	if err != nil {
		return nil, err
	}
	v.Next = next
	v.Link = &linkForm{p.Name, "/login/oidc/" + url.PathEscape(p.Key()) + "/link", sealed}
	return render(code, v)
}

// link signs in a person of a provider who proves an account with its password, and links both.
func (f *Face) link(ctx context.Context, r *api.Request) (api.Response, error) {
	v := loginView{Words: wordsOf(r.HTTP), Email: r.Body.Text("email")}
	if foreign.Check(r.HTTP) != nil {
		v.Problem = v.Words.Foreign
		return render(http.StatusForbidden, v)
	}
	var arrival app.Arrival
	err := f.identities.Open(forLink, r.Body.Text("arrival"), &arrival)
	if err != nil || arrival.Provider != r.Params["provider"] || f.identities.Now().UnixMilli() > arrival.Until {
		return f.failed(r, app.ErrSignInAttempt)
	}
	p, err := f.identities.Find(ctx, arrival.Provider)
	if err != nil {
		return f.failed(r, err)
	}
	next := nextPlace(r.Body.Text("next"))
	user, err := f.Authenticate(r, v.Email, r.Body.Text("password"), false)
	if errors.Is(err, app.ErrNotFound) {
		v.Problem = v.Words.Wrong
		return f.askLink(r, p, arrival, next, v, http.StatusUnauthorized)
	}
	if err != nil {
		return renderRefusal(r, v, err)
	}
	user, err = f.identities.Link(ctx, p, user, arrival, r.Client().String())
	if err != nil {
		return f.failed(r, err)
	}
	if _, err := f.beginBy(r, user, true, app.LoginOrigin{Via: viaProvider + p.Key()}); err != nil {
		return nil, err
	}
	return goTo(next)
}

// refused is failed for a browser that began the sign-in; it is in the audit log.
func (f *Face) refused(ctx context.Context, r *api.Request, p app.TenantProvider, err error) (api.Response, error) {
	if err := f.audit.ProviderFailed(ctx, p, r.Client().String()); err != nil {
		return nil, err
	}
	return f.failed(r, err)
}

// failed shows why a sign-in at a provider failed, and returns any other error.
func (f *Face) failed(r *api.Request, err error) (api.Response, error) {
	w := wordsOf(r.HTTP)
	v, code := loginView{Words: w, Next: home}, http.StatusUnauthorized
	var refused *app.Error
	switch {
	case errors.Is(err, app.ErrSignInAttempt):
		v.Problem, code = w.Expired, http.StatusBadRequest
	case errors.Is(err, app.ErrSignInRefused):
		v.Problem = w.Refused
	case errors.Is(err, app.ErrSignInToken):
		v.Problem = w.BadToken
	case errors.Is(err, app.ErrSignInOverage):
		v.Problem, code = w.Overage, http.StatusForbidden
	case errors.Is(err, app.ErrSignInUnreachable):
		v.Problem, code = w.Unreachable, http.StatusBadGateway
	case errors.Is(err, app.ErrNoRole):
		v.Problem, code = w.NoRole, http.StatusForbidden
	case errors.Is(err, app.ErrOtherTenant):
		v.Problem, code = w.OtherTenant, http.StatusForbidden
	case errors.Is(err, app.ErrNotFound):
		v.Problem, code = w.NoProvider, http.StatusNotFound
	case errors.As(err, &refused) && refused.Code == app.CodeExists:
		v.Problem, code = w.Linked, http.StatusConflict
	default:
		return nil, err
	}
	r.Logger().Warn("sign-in at a provider failed", "provider", r.Params["provider"], "err", err)
	list, err := f.providers(r.HTTP.Context(), "", home)
	if err != nil {
		return nil, err
	}
	v.Providers = list
	return render(code, v)
}

// tokenOf returns the ID token of the login of a request; "" if it began elsewhere.
func (f *Face) tokenOf(ctx context.Context, r *api.Request, who app.Principal) (string, error) {
	c, err := r.HTTP.Cookie(api.LoginCookie)
	if !strings.HasPrefix(who.Via, viaProvider) || err != nil {
		return "", nil
	}
	return f.accounts.LoginToken(ctx, c.Value)
}

// viaProvider begins the origin of a login at a provider.
const viaProvider = "oidc:"

// endTime bounds how long a browser that has logged out waits for its provider.
const endTime = 3 * time.Second

// endAt leads a person who has logged out to the end of the session at the provider; nil if the
// login began elsewhere, or the provider has no such place.
func (f *Face) endAt(ctx context.Context, r *api.Request, who app.Principal, token string) (*providerLink, error) {
	key, ok := strings.CutPrefix(who.Via, viaProvider)
	if !ok {
		return nil, nil
	}
	p, err := f.identities.Find(ctx, key)
	if errors.Is(err, app.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	address := p.EndAddress(ctx, token, base(r)+"/login")
	if address == "" {
		return nil, nil
	}
	return &providerLink{p.Name, address}, nil
}
