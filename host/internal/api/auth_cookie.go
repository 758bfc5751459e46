package api

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/easel-canvas/easel/host/internal/app"
)

// LoginCookie holds a page's login.
const LoginCookie = "easel_login"

// CSRFHeader must repeat the login's text on requests that a cookie signs,
// because a foreign page could send those.
const CSRFHeader = "X-CSRF-Token"

// PageHeader marks requests of the page that this host serves. A login cookie
// does not count without it: pictures, links, forms and scripts of other sites
// cannot set it. The value is PageItself or PageRun.
const PageHeader = "X-Easel-Page"

// Values of [PageHeader].
const (
	PageItself = "page" // the page, for the person
	PageRun    = "run"  // the page, for a canvas that runs in it: models only
)

// byCookie authenticates by the login cookie. It accepts the cookie only from the
// host's own page.
func (a *API) byCookie(r *Request) (app.Principal, error) {
	cookie, err := r.HTTP.Cookie(LoginCookie)
	if err != nil {
		return app.Principal{}, Unauthorized()
	}
	if err := r.checkPage(); err != nil {
		return app.Principal{}, err
	}
	who, err := a.cfg.Services.Accounts.ByLogin(r.HTTP.Context(), cookie.Value)
	if errors.Is(err, app.ErrNotFound) {
		return app.Principal{}, Unauthorized()
	}
	if err != nil {
		return app.Principal{}, err
	}
	reads := !r.Route.Alters && (r.HTTP.Method == http.MethodGet || r.HTTP.Method == http.MethodHead)
	if !reads && !who.Proves(r.HTTP.Header.Get(CSRFHeader)) {
		return app.Principal{}, Forbidden("The request lacks the login's %s header.", CSRFHeader)
	}
	return who, nil
}

// checkPage refuses a request that does not come from the host's own page.
//
// An EventSource cannot set headers, so routes of events accept one without
// PageHeader: they change nothing, and a foreign page's has an Origin.
func (r *Request) checkPage() error {
	if !r.SameOrigin() {
		return Forbidden("A login cookie is not accepted from other sites; use an API key.")
	}
	switch mark := r.HTTP.Header.Get(PageHeader); {
	case mark == PageItself, mark == PageRun && r.Route.PageRun, mark == "" && r.Route.Events:
		return nil
	case mark == PageRun:
		return Forbidden("A canvas that runs in the page may use the host's models only.")
	}
	return Forbidden("A login cookie needs the header %s: %s; use an API key outside of the page.", PageHeader, PageItself)
}

// SameOrigin reports whether no header shows that another site made the request. Browsers send
// Sec-Fetch-Site over HTTPS and to the loopback only, and Origin with all but plain reading.
func (r *Request) SameOrigin() bool {
	if site := r.HTTP.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin" // the browser knows better than a host behind a proxy
	}
	values := r.HTTP.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	origin, err := url.Parse(values[0])
	if err != nil || len(values) > 1 || !strings.EqualFold(origin.Host, r.HTTP.Host) {
		return false
	}
	return origin.Scheme == "https" || origin.Scheme == "http" && !r.Secure()
}

// CheckLoginSite refuses a login that a form of another site sends, or a page whose origin may not
// call the API. Pages that may get their login as a header only; see the login face.
func (r *Request) CheckLoginSite() error {
	allowed := r.api.cors.permits(r.HTTP.Header.Get("Origin")) && r.HTTP.Header.Get("Sec-Fetch-Mode") != "navigate"
	if allowed || r.SameOrigin() {
		return nil
	}
	return Forbidden("A login from another site is not accepted; --cors names origins whose pages may call this host.")
}

// Secure reports whether the request came over HTTPS, to this host or to a
// proxy in front of it.
func (r *Request) Secure() bool {
	return r.HTTP.TLS != nil || strings.EqualFold(r.HTTP.Header.Get("X-Forwarded-Proto"), "https")
}

// Forbidden is a refusal with HTTP status 403.
func Forbidden(format string, values ...any) error {
	f := Refused(KindForbidden, format, values...)
	f.Status = http.StatusForbidden
	return f
}
