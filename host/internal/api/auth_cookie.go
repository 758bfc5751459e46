package api

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/easel-canvas/easel/host/internal/store"
)

// loginCookie holds a page's login.
const loginCookie = "easel_login"

// csrfHeader must repeat the login's text on requests that a cookie signs,
// because a foreign page could send those.
const csrfHeader = "X-CSRF-Token"

// pageHeader marks requests of the page that this host serves. A login cookie
// does not count without it: pictures, links, forms and scripts of other sites
// cannot set it. The value is pageItself or pageRun.
const pageHeader = "X-Easel-Page"

const (
	pageItself = "page" // the page, for the person
	pageRun    = "run"  // the page, for a canvas that runs in it: models only
)

// cookie authenticates by the login cookie. It accepts the cookie only from the
// host's own page.
func (c *call) cookie() (caller, error) {
	cookie, err := c.r.Cookie(loginCookie)
	if err != nil {
		return caller{}, unauthorized()
	}
	if err := c.checkPage(); err != nil {
		return caller{}, err
	}
	who, err := c.login(cookie.Value)
	if errors.Is(err, store.ErrNotFound) {
		return caller{}, unauthorized()
	}
	if err != nil {
		return caller{}, err
	}
	reads := !c.route.alters && (c.r.Method == http.MethodGet || c.r.Method == http.MethodHead)
	if !reads && !who.proves(c.r.Header.Get(csrfHeader)) {
		return caller{}, forbidden("The request lacks the login's %s header.", csrfHeader)
	}
	return who, nil
}

// checkPage refuses a request that does not come from the host's own page.
//
// An EventSource cannot set headers, so routes of events accept one without
// pageHeader: they change nothing, and a foreign page's has an Origin.
func (c *call) checkPage() error {
	if !c.sameOrigin() {
		return forbidden("A login cookie is not accepted from other sites; use an API key.")
	}
	switch mark := c.r.Header.Get(pageHeader); {
	case mark == pageItself, mark == pageRun && c.route.llm, mark == "" && c.route.events:
		return nil
	case mark == pageRun:
		return forbidden("A canvas that runs in the page may use the host's models only.")
	}
	return forbidden("A login cookie needs the header %s: %s; use an API key outside of the page.", pageHeader, pageItself)
}

// sameOrigin reports whether nothing says that another site made the request.
// Browsers send Sec-Fetch-Site over HTTPS and to the loopback only, and Origin
// with all but plain reading.
func (c *call) sameOrigin() bool {
	if site := c.r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin" // the browser knows better than a host behind a proxy
	}
	values := c.r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	origin, err := url.Parse(values[0])
	if err != nil || len(values) > 1 || !strings.EqualFold(origin.Host, c.r.Host) {
		return false
	}
	return origin.Scheme == "https" || origin.Scheme == "http" && !c.secure()
}

// checkLoginSite refuses a login that a form of another site sends, or a page whose origin may not
// call the API. Pages that may get their login as a header only; see [call.begin].
func checkLoginSite(c *call) error {
	allowed := c.a.cors.permits(c.r.Header.Get("Origin")) && c.r.Header.Get("Sec-Fetch-Mode") != "navigate"
	if allowed || c.sameOrigin() {
		return nil
	}
	return forbidden("A login from another site is not accepted; --cors names origins whose pages may call this host.")
}

// secure reports whether the request came over HTTPS, to this host or to a
// proxy in front of it.
func (c *call) secure() bool {
	return c.r.TLS != nil || strings.EqualFold(c.r.Header.Get("X-Forwarded-Proto"), "https")
}

// forbidden is a refusal with HTTP status 403.
func forbidden(format string, values ...any) error {
	f := refused(codeForbidden, format, values...)
	f.status = http.StatusForbidden
	return f
}
