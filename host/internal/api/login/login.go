// Package login serves the login page, with plain forms and without a script, and checks passwords
// and holds logins in cookies for the other faces.
package login

import (
	"errors"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Face is the login page of a host. It is safe for concurrent use.
type Face struct {
	accounts   *app.Accounts
	identities *app.Identities
	audit      *app.Audit
	brake      *loginBrake
}

// New makes the face. Attempts are limited by the time that now returns; nil means time.Now.
func New(s *app.Services, now func() time.Time) *Face {
	return &Face{s.Accounts, s.Identities, s.Audit, newLoginBrake(now)}
}

// Routes returns the routes of the page.
func (f *Face) Routes() []api.Route {
	return []api.Route{
		{Method: "GET", Path: "/login", Body: api.BodyNone, Need: api.NeedNone, Handler: f.page},
		{Method: "POST", Path: "/login", Body: api.BodyTiny, Need: api.NeedNone, Handler: f.submit},
		{Method: "POST", Path: "/login/password", Body: api.BodyTiny, Need: api.NeedNone, Handler: f.changeByForm},
		{Method: "GET", Path: "/login/oidc/{provider}", Body: api.BodyNone, Need: api.NeedNone, Handler: f.begin},
		{
			Method: "GET", Path: "/login/oidc/{provider}/callback", Body: api.BodyNone, Need: api.NeedNone,
			Handler: f.callback,
		},
		{Method: "POST", Path: "/login/oidc/{provider}/link", Body: api.BodyTiny, Need: api.NeedNone, Handler: f.link},
		{Method: "POST", Path: "/logout", Body: api.BodyTiny, Need: api.NeedNone, Handler: f.logout},
	}
}

// Begin makes a login and puts it into the answer's headers. The browser keeps it only when the
// request came from this host (own): another site could put its own login into a visitor's browser.
func (f *Face) Begin(r *api.Request, user app.User, own bool) (app.Login, error) {
	return f.beginBy(r, user, own, app.LoginOrigin{Via: "password"})
}

func (f *Face) beginBy(r *api.Request, user app.User, own bool, from app.LoginOrigin) (app.Login, error) {
	from.Address, from.Agent = r.Client().String(), r.HTTP.UserAgent()
	v, text, err := f.accounts.NewLogin(r.HTTP.Context(), user.ID, from)
	if err != nil {
		return v, err
	}
	r.Writer.Header().Set("Authorization", text)
	r.Writer.Header().Set(api.CSRFHeader, v.CSRF)
	if !own {
		return v, nil
	}
	setCookie(r, api.LoginCookie, text, app.LoginLasts)
	return v, f.rememberDevice(r, user)
}

// setCookie stores a text in the page's browser; a negative time removes it. Over HTTPS, here or at
// a proxy in front, the cookie is sent over HTTPS only. Requests that another site causes never
// carry it, links to this host included: the page that such a link opens makes its own requests.
func setCookie(r *api.Request, name, text string, lasts time.Duration) {
	c := cookie(r, name, text, lasts)
	http.SetCookie(r.Writer, &c)
}

func cookie(r *api.Request, name, text string, lasts time.Duration) http.Cookie {
	return http.Cookie{
		Name: name, Value: text, Path: "/", MaxAge: int(lasts.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.Secure(),
	}
}

// End ends the login that the request came with, and removes its cookie. A cookie that holds
// another login stays.
func (f *Face) End(r *api.Request) error {
	text := r.Token()
	if cookie, err := r.HTTP.Cookie(api.LoginCookie); err == nil && (text == "" || text == cookie.Value) {
		text = cookie.Value
		setCookie(r, api.LoginCookie, "", -time.Second)
	}
	return f.accounts.EndLogin(r.HTTP.Context(), text)
}

// ChangePassword changes the password of a principal. A login needs the old one, whether a cookie
// or a header holds it. A key that stands for its user has proved enough; other keys are refused.
// Errors: those of [app.Error] and of [Face.Authenticate].
func (f *Face) ChangePassword(r *api.Request, who app.Principal, old, password string) error {
	ctx := r.HTTP.Context()
	u, err := f.accounts.User(ctx, who.User)
	if errors.Is(err, app.ErrNotFound) {
		return app.Refuse(app.CodeNoUser, "this key belongs to no user who can log in")
	}
	if err != nil {
		return err
	}
	if who.Key != nil {
		switch stands, err := f.accounts.StandsForUser(ctx, who); {
		case err != nil:
			return err
		case !stands:
			return app.Forbidden("a limited key cannot change a password; log in, or use a key without limits")
		}
	} else {
		same, err := f.Authenticate(r, u.Email, old, true)
		if errors.Is(err, app.ErrNotFound) || err == nil && same.ID != u.ID {
			return app.Refuse(app.CodeWrongPassword, "the old password is not right")
		}
		if err != nil {
			return err
		}
	}
	return f.accounts.SetPassword(ctx, u.ID, password)
}
