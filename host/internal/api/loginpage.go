package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/easel-canvas/easel/host/internal/store"
)

// The page where people log in and out and change their password: plain forms,
// without a script.
var pageRoutes = []route{
	{method: "GET", path: "/login", body: bodyNone, need: needNone, answer: (*API).loginPage},
	{method: "POST", path: "/login", body: bodyTiny, need: needNone, answer: (*API).loginForm},
	{method: "POST", path: "/login/password", body: bodyTiny, need: needNone, answer: (*API).passwordForm},
	{method: "POST", path: "/logout", body: bodyTiny, need: needNone, answer: (*API).logoutForm},
}

//go:embed loginpage.html
var loginHTML string

//go:embed loginpage.css
var loginCSS string

var loginTemplate = template.Must(template.New("login").Parse(loginHTML))

// loginPolicy lets the page load nothing but its own style and forbids framing it.
var loginPolicy = func() string {
	sum := sha256.Sum256([]byte(loginCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

// loginView is what the page shows.
type loginView struct {
	Style    template.CSS
	Words    loginWords
	Next     string // where to go after the login
	Email    string
	CSRF     string // of a login that is there
	Who      string // its user; "" shows the form to log in
	Problem  string
	Notice   string
	Shortest int // of passwords
}

// loginWords are the page's texts in one language.
type loginWords struct {
	Lang, Title, Email, Password, Hint, LogIn, Wrong, TooMany, LoggedIn, LogOut, Open, Change, Old, New, Save, Changed, WrongOld, TooShort, BadText, Foreign, Gone string
}

var loginTexts = map[string]loginWords{
	"en": {
		Lang: "en", Title: "Log in", Email: "E-mail address", Password: "Password or API key", LogIn: "Log in",
		Hint:  "On a host with one user, the API key that was printed at the first start is enough.",
		Wrong: "The address and the password do not match.", TooMany: "Too many attempts. Wait a little and try again.",
		LoggedIn: "You are logged in as", LogOut: "Log out", Open: "Open the canvases", Change: "Change the password",
		Old: "Old password or API key", New: "New password, at least 8 characters", Save: "Change it",
		Changed: "The password is changed. Log in with it.", WrongOld: "The old password is not right.",
		TooShort: "The new password needs 8 to 1024 characters.", Foreign: "This form was sent from another site.",
		BadText: "The address or a password holds control characters. Type it again.",
		Gone:    "The login has ended. Log in again.",
	},
	"zh": {
		Lang: "zh", Title: "登录", Email: "电子邮箱", Password: "密码或 API 密钥", LogIn: "登录",
		Hint:  "单用户主机只需输入首次启动时显示的 API 密钥。",
		Wrong: "邮箱与密码不匹配。", TooMany: "尝试次数过多，请稍后再试。",
		LoggedIn: "当前登录用户：", LogOut: "退出登录", Open: "打开画布", Change: "修改密码",
		Old: "旧密码或 API 密钥", New: "新密码，至少 8 个字符", Save: "修改",
		Changed: "密码已修改，请用新密码登录。", WrongOld: "旧密码不正确。",
		TooShort: "新密码需要 8 到 1024 个字符。", Foreign: "该表单来自其他网站。",
		BadText: "邮箱或密码含有控制字符，请重新输入。",
		Gone:    "登录已失效，请重新登录。",
	},
}

func (c *call) words() loginWords {
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(c.r.Header.Get("Accept-Language"))), "zh") {
		return loginTexts["zh"]
	}
	return loginTexts["en"]
}

// render answers with the page.
func (c *call) render(code int, v loginView) error {
	v.Style, v.Shortest = template.CSS(loginCSS), shortestPassword
	if v.Words.Lang == "" {
		v.Words = c.words()
	}
	var page bytes.Buffer
	if err := loginTemplate.Execute(&page, v); err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", loginPolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // forms need their origin to be told
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Language, Cookie")
	c.w.WriteHeader(code)
	_, _ = c.w.Write(page.Bytes()) // the client is gone when this fails
	return nil
}

// goTo answers a form.
func (c *call) goTo(place string) error {
	c.w.Header().Set("Cache-Control", "no-store")
	http.Redirect(c.w, c.r, place, http.StatusSeeOther)
	return nil
}

// nextPlace is where a page wanted to be: a path of this host.
func nextPlace(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.ContainsAny(text, "\\\r\n\t") {
		return "/"
	}
	return text
}

// foreign refuses forms that another site sends: those of the login page have
// no login yet whose text could prove where they come from.
var foreign = http.NewCrossOriginProtection()

// present is the login that the request's cookie holds. It counts for pages and
// forms that a person opens, not for a script that would read the CSRF text.
func (c *call) present() (caller, bool, error) {
	cookie, err := c.r.Cookie(loginCookie)
	if mode := c.r.Header.Get("Sec-Fetch-Mode"); err != nil || mode != "" && mode != "navigate" {
		return caller{}, false, nil
	}
	who, err := c.login(cookie.Value)
	if errors.Is(err, store.ErrNotFound) {
		return caller{}, false, nil
	}
	return who, err == nil, err
}

// view is the page for a login that is there.
func (c *call) view(who caller) (loginView, error) {
	u, err := c.a.cfg.Store.User(c.ctx(), who.user)
	return loginView{Who: u.Email, CSRF: who.csrf}, err
}

func (a *API) loginPage(c *call) error {
	who, ok, err := c.present()
	if err != nil {
		return err
	}
	v := loginView{Next: nextPlace(c.query.Get("next"))}
	if ok {
		if v, err = c.view(who); err != nil {
			return err
		}
	} else if c.query.Has("changed") {
		v.Notice = c.words().Changed
	}
	return c.render(http.StatusOK, v)
}

func (a *API) loginForm(c *call) error {
	v := loginView{Words: c.words(), Next: nextPlace(c.text("next")), Email: c.text("email")}
	if err := foreign.Check(c.r); err != nil {
		v.Problem = v.Words.Foreign
		return c.render(http.StatusForbidden, v)
	}
	user, err := authenticate(c, v.Email, c.text("password"), false)
	if errors.Is(err, store.ErrNotFound) {
		v.Problem = v.Words.Wrong
		return c.render(http.StatusUnauthorized, v)
	}
	if err != nil {
		return c.renderRefusal(v, err)
	}
	if _, err := c.begin(user, true); err != nil {
		return err
	}
	return c.goTo(v.Next)
}

// renderRefusal shows why a password was not checked, and returns any other error.
func (c *call) renderRefusal(v loginView, err error) error {
	var f *failure
	switch {
	case !errors.As(err, &f):
		return err
	case f.status == http.StatusTooManyRequests:
		setRetryAfter(c.w.Header(), f.after)
		v.Problem = v.Words.TooMany
		return c.render(f.status, v)
	case f.code == codeArgument:
		v.Problem = v.Words.BadText
		return c.render(http.StatusBadRequest, v)
	}
	return err
}

// owned is the login that sends a form, which must prove that it comes from
// the page.
func (c *call) owned() (who caller, answered bool, err error) {
	who, ok, err := c.present()
	switch {
	case err != nil:
		return who, false, err
	case !ok:
		return who, true, c.render(http.StatusUnauthorized, loginView{Next: "/", Problem: c.words().Gone})
	case foreign.Check(c.r) != nil || !who.proves(c.text("csrf")):
		return who, true, c.render(http.StatusForbidden, loginView{Next: "/", Problem: c.words().Foreign})
	}
	return who, false, nil
}

func (a *API) passwordForm(c *call) error {
	who, answered, err := c.owned()
	if answered || err != nil {
		return err
	}
	v, err := c.view(who)
	if err != nil {
		return err
	}
	v.Words = c.words()
	err = c.changePassword(who, c.text("old"), c.text("new"), false)
	var bad *status
	switch {
	case errors.As(err, &bad) && bad.code == "wrong_password":
		v.Problem = v.Words.WrongOld
		return c.render(bad.http, v)
	case errors.As(err, &bad):
		v.Problem = v.Words.TooShort
		return c.render(bad.http, v)
	case err != nil:
		return c.renderRefusal(v, err)
	}
	return c.goTo("/login?changed")
}

func (a *API) logoutForm(c *call) error {
	_, answered, err := c.owned()
	if answered || err != nil {
		return err
	}
	if err := c.end(); err != nil {
		return err
	}
	return c.goTo("/login")
}
