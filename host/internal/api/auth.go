package api

import (
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/time/rate"

	"github.com/easel-canvas/easel/host/internal/store"
)

// caller is who asks.
type caller struct {
	tenant string
	user   string
	beta   string   // "*" or the one canvas that an embedded page may use; "" for others
	embeds bool     // it came with a beta token
	scopes []string // of a limited key; empty means everything
}

// csrfHeader must repeat the login's text on requests that a cookie signs,
// because a foreign page could send those.
const csrfHeader = "X-CSRF-Token"

// loginCookie holds a page's login.
const loginCookie = "easel_login"

// identify finds out who asks, as far as the route needs it.
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
	if len(who.scopes) > 0 && c.route.scope != "" && !slices.Contains(who.scopes, c.route.scope) {
		f := refused(codeForbidden, "This key may not %s.", c.route.scope)
		f.status = http.StatusForbidden
		return f
	}
	c.who = who
	return nil
}

func (c *call) lookup() (caller, error) {
	token := c.token()
	if token == "" {
		return c.cookie()
	}
	if !c.a.rates.allow(token) {
		return caller{}, &failure{code: codeBad, message: "Too many requests with this key; try again later.", status: http.StatusTooManyRequests}
	}
	key, err := c.a.cfg.Store.KeyByText(c.ctx(), token)
	if err == nil {
		return caller{tenant: key.Tenant, user: key.User, scopes: key.Scopes}, nil
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
			return caller{tenant: beta.Tenant, user: beta.Tenant, beta: canvas, embeds: true}, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return caller{}, err
		}
	}
	who, _, err := c.login(token)
	if errors.Is(err, store.ErrNotFound) {
		return caller{}, c.unknown()
	}
	return who, err
}

// unknown is the answer to a token that nobody has, in the words of the route.
func (c *call) unknown() error {
	switch {
	case strings.Contains(c.route.path, "/agentbots/") || strings.Contains(c.route.path, "/getsse/"):
		return failed(codeData, `Authentication error: API key is invalid!"`)
	case c.newer():
		return unauthorized()
	case strings.HasPrefix(c.route.path, "/api/v1/") && !strings.HasPrefix(c.route.path, "/api/v1/system"):
		return refused(codeAuth, "Authentication error: API key is invalid!")
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

// cookie is the login of a page.
func (c *call) cookie() (caller, error) {
	cookie, err := c.r.Cookie(loginCookie)
	if err != nil {
		return caller{}, unauthorized()
	}
	who, csrf, err := c.login(cookie.Value)
	if errors.Is(err, store.ErrNotFound) {
		return caller{}, unauthorized()
	}
	if err != nil {
		return caller{}, err
	}
	safe := c.r.Method == http.MethodGet || c.r.Method == http.MethodHead
	sent := c.r.Header.Get(csrfHeader)
	if !safe && subtle.ConstantTimeCompare([]byte(sent), []byte(csrf)) != 1 {
		f := refused(codeForbidden, "The request lacks the login's %s header.", csrfHeader)
		f.status = http.StatusForbidden
		return caller{}, f
	}
	return who, nil
}

// login resolves the text of a login.
func (c *call) login(text string) (caller, string, error) {
	v, err := c.a.cfg.Store.LoginByText(c.ctx(), text)
	if err != nil {
		return caller{}, "", err
	}
	member, err := c.a.cfg.Store.Memberships(c.ctx(), v.User)
	if err != nil {
		return caller{}, "", err
	}
	if len(member) == 0 {
		return caller{}, "", store.ErrNotFound
	}
	return caller{tenant: member[0].Tenant, user: v.User}, v.CSRF, nil
}

// mayUse says whether a caller may use a canvas of its tenant.
func (w caller) mayUse(canvas string) bool {
	return !w.embeds || w.beta == "*" || w.beta == canvas
}

// rates bounds how often each key is used. The zero value lets everything
// pass.
type rates struct {
	limit        float64
	mu           sync.Mutex
	keys, logins map[string]*rate.Limiter
}

// mostRates bounds how many keys are remembered; beyond it, all start anew.
const mostRates = 10_000

func (r *rates) allow(key string) bool {
	if r.limit <= 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys == nil || len(r.keys) > mostRates {
		r.keys = map[string]*rate.Limiter{}
	}
	l := r.keys[key]
	if l == nil {
		l = rate.NewLimiter(rate.Limit(r.limit), int(max(1, r.limit)))
		r.keys[key] = l
	}
	return l.Allow()
}

// login bounds attempts to log in from one address to one per second, ten at
// once.
func (r *rates) login(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logins == nil || len(r.logins) > mostRates {
		r.logins = map[string]*rate.Limiter{}
	}
	l := r.logins[host]
	if l == nil {
		l = rate.NewLimiter(1, 10)
		r.logins[host] = l
	}
	return l.Allow()
}
