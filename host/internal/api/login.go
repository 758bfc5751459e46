package api

import (
	"cmp"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

var loginRoutes = []route{
	{method: "POST", path: "/v1/user/login", body: bodyTiny, need: needNone, answer: (*API).login},
	{method: "POST", path: "/api/v1/auth/login", body: bodyTiny, need: needNone, answer: (*API).login},
	{method: "GET POST", path: "/v1/user/logout", body: bodyTiny, alters: true, answer: (*API).logout},
	{method: "POST", path: "/api/v1/auth/logout", body: bodyTiny, answer: (*API).logout},
	{method: "GET", path: "/v1/user/info", body: bodyNone, scope: scopeRead, answer: (*API).userInfo},
	{method: "GET", path: "/api/v1/users/me", body: bodyNone, scope: scopeRead, answer: (*API).userInfo},
	{method: "GET", path: "/v1/user/tenant_info", body: bodyNone, scope: scopeRead, answer: (*API).tenantInfo},
}

// loginLasts is how long a login is good.
const loginLasts = 7 * 24 * time.Hour

// tooManyLogins is the message for too many login attempts.
const tooManyLogins = "Too many attempts; try again later."

// login checks a password and hands out the login: in the Authorization header
// for pages of the original, and as a cookie with its CSRF text for ours.
//
// The password may come as it is or in base64. The original's pages encrypt it
// with a key that its server keeps, which cannot be read here. An API key that
// is not limited is accepted in its place, so that a host with one user needs
// no password.
func (a *API) login(c *call) error {
	email, password := c.text("email"), c.text("password")
	if err := cmp.Or(c.valid(), checkLoginSite(c)); err != nil {
		return err
	}
	user, err := authenticate(c, email, password, false)
	if errors.Is(err, store.ErrNotFound) {
		return refused(codeAuth, "Email and password do not match!")
	}
	if err != nil {
		return err
	}
	v, err := c.begin(user, c.sameOrigin())
	if err != nil {
		return err
	}
	return c.ok(userRow(user).With("csrf", engine.String(v.CSRF)))
}

// begin makes a login and puts it into the answer's headers. The browser keeps it only when the
// request came from this host (own): another site could put its own login into a visitor's browser.
func (c *call) begin(user store.User, own bool) (store.Login, error) {
	v, text, err := c.a.cfg.Store.CreateLogin(c.ctx(), user.ID, loginLasts)
	if err != nil {
		return v, err
	}
	c.w.Header().Set("Authorization", text)
	c.w.Header().Set(csrfHeader, v.CSRF)
	if !own {
		return v, nil
	}
	setCookie(c, loginCookie, text, loginLasts)
	return v, rememberDevice(c, user)
}

// ownTenant is where a login works that belongs to several tenants: in the one
// that is the account's own. A tenant of the original is its owner's user, so
// that one goes before others that it owns; then the others, where it may do
// most. There is at least one.
func ownTenant(list []store.Member) store.Member {
	rank := func(m store.Member) int {
		switch {
		case m.Tenant == m.User:
			return 3
		case m.Role == roleOwner:
			return 2
		case m.Role == roleAdmin:
			return 1
		}
		return 0
	}
	own := list[0]
	for _, m := range list[1:] {
		if rank(m) > rank(own) {
			own = m
		}
	}
	return own
}

// setCookie stores a text in the page's browser; a negative time removes it.
// Over HTTPS, here or at a proxy in front, the cookie is sent over HTTPS only.
// Requests that another site causes never carry it, links to this host included:
// the page that such a link opens makes its own requests.
func setCookie(c *call, name, text string, lasts time.Duration) {
	http.SetCookie(c.w, &http.Cookie{
		Name: name, Value: text, Path: "/", MaxAge: int(lasts.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.secure(),
	})
}

// userOf finds the user of a login, by password or by an API key.
func userOf(c *call, email, password string) (store.User, error) {
	tries := []string{password}
	if plain, err := base64.StdEncoding.DecodeString(password); err == nil && plainText(string(plain)) {
		tries = append(tries, string(plain))
	}
	for _, p := range tries {
		if p == "" {
			continue
		}
		// A limited key is no login: that would lift its limits.
		if key, err := c.a.cfg.Store.KeyByText(c.ctx(), p); err == nil && len(key.Scopes) == 0 {
			return c.a.cfg.Store.User(c.ctx(), key.User)
		}
		u, err := c.a.cfg.Store.UserByPassword(c.ctx(), email, p)
		if !errors.Is(err, store.ErrNotFound) {
			return u, err
		}
	}
	return store.User{}, store.ErrNotFound
}

func userRow(u store.User) engine.Value {
	b := engine.NewObject(10)
	b.Set("id", engine.String(u.ID)).Set("email", engine.String(u.Email)).Set("nickname", engine.String(u.Nickname))
	b.Set("avatar", orNull(u.Avatar)).Set("is_superuser", engine.Bool(false))
	setTimes(b, u.CreateTime, u.UpdateTime)
	return b.Value()
}

func (a *API) logout(c *call) error {
	if err := c.end(); err != nil {
		return err
	}
	return c.ok(engine.Bool(true))
}

// end ends the login that the request came with, and removes its cookie. A cookie that holds
// another login stays.
func (c *call) end() error {
	text := c.token()
	if cookie, err := c.r.Cookie(loginCookie); err == nil && (text == "" || text == cookie.Value) {
		text = cookie.Value
		setCookie(c, loginCookie, "", -time.Second)
	}
	return c.a.cfg.Store.DeleteLogin(c.ctx(), text)
}

func (a *API) userInfo(c *call) error {
	u, err := a.cfg.Store.User(c.ctx(), c.who.user)
	if errors.Is(err, store.ErrNotFound) {
		u = store.User{ID: c.who.user, Nickname: c.who.user}
	} else if err != nil {
		return err
	}
	return c.ok(userRow(u))
}

// tenantInfo names the models that are used when a canvas names none.
func (a *API) tenantInfo(c *call) error {
	name := c.who.tenant
	if t, err := a.cfg.Store.Tenant(c.ctx(), c.who.tenant); err == nil {
		name = t.Name
	}
	choice, err := a.cfg.Models.Choice(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	return c.ok(engine.Object("tenant_id", c.who.tenant, "name", name, "role", "owner",
		"llm_id", choice.Default, "embd_id", choice.Embedding, "rerank_id", "", "asr_id", "", "img2txt_id", "", "tts_id", choice.Speech))
}
