package login

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

//go:embed page.html
var loginHTML string

//go:embed page.css
var loginCSS string

var loginTemplate = template.Must(template.New("login").Parse(loginHTML))

// loginPolicy lets the page load nothing but its own style and forbids framing it.
var loginPolicy = func() string {
	sum := sha256.Sum256([]byte(loginCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

// loginView is the data of the page.
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

	Providers []providerLink // that sign people in
	Link      *linkForm      // requests the password that links a person to an account
	End       *providerLink  // ends the session at the provider, after that here has ended
}

// providerLink leads to a provider.
type providerLink struct{ Name, Address string }

// linkForm links a person who came from a provider to an account.
type linkForm struct{ Provider, Address, Sealed string }

// loginWords are the page's texts in one language.
type loginWords struct {
	Lang, Title, Email, Password, Hint, LogIn, Wrong, TooMany, LoggedIn, LogOut, Open, Change, Old, New, Save,
	Changed, WrongOld, TooShort, BadText, Foreign, Gone, Used, Account,
	Or, LogInBy, LinkTitle, LinkHint, Link, Linked, Expired, Refused, BadToken, Overage, Unreachable, NoRole,
	OtherTenant, NoProvider, Left, EndAt, Back string
}

//go:embed words.json
var loginJSON []byte

// loginTexts are the texts by language.
var loginTexts = func() (texts map[string]loginWords) {
	if err := json.Unmarshal(loginJSON, &texts); err != nil {
		panic(err) // it is part of the program, and tests read it
	}
	return texts
}()

func wordsOf(r *http.Request) loginWords {
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(r.Header.Get("Accept-Language"))), "zh") {
		return loginTexts["zh"]
	}
	return loginTexts["en"]
}

// render answers with the page.
func render(code int, v loginView) (api.Response, error) {
	return api.ResponseFunc(func(r *api.Request) error {
		v.Style, v.Shortest = template.CSS(loginCSS), app.ShortestPassword
		if v.Words.Lang == "" {
			v.Words = wordsOf(r.HTTP)
		}
		var page bytes.Buffer
		if err := loginTemplate.Execute(&page, v); err != nil {
			return err
		}
		h := r.Writer.Header()
		h.Set("Content-Security-Policy", loginPolicy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // forms need their origin to be sent
		h.Set("Cache-Control", "no-store")
		h.Set("Vary", "Accept-Language, Cookie")
		return api.Raw(code, "text/html; charset=utf-8", page.Bytes()).Write(r)
	}), nil
}

// goTo answers a form.
func goTo(place string) (api.Response, error) {
	return api.ResponseFunc(func(r *api.Request) error {
		r.Writer.Header().Set("Cache-Control", "no-store")
		http.Redirect(r.Writer, r.HTTP, place, http.StatusSeeOther)
		return nil
	}), nil
}

// nextPlace is where a page wanted to be: a path of this host. The pages that sign in do not count:
// the author of the link could sign the person in as somebody else after all.
func nextPlace(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "" || u.Host != "",
		!strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//"),
		strings.ContainsAny(text, "\\\r\n\t"):
		return home
	case text == "/", strings.HasPrefix(path.Clean(u.Path)+"/", "/login/"):
		return home
	}
	return text
}

// home is the page for the person who signed in.
const home = "/#host"

// foreign refuses forms that another site sends: those of the login page have no login yet whose
// text could prove where they come from.
var foreign = http.NewCrossOriginProtection()

// present is the login that the request's cookie holds. It counts for pages and forms that a person
// opens, not for a script that would read the CSRF text.
func (f *Face) present(ctx context.Context, r *api.Request) (app.Principal, bool, error) {
	cookie, err := r.HTTP.Cookie(api.LoginCookie)
	if mode := r.HTTP.Header.Get("Sec-Fetch-Mode"); err != nil || mode != "" && mode != "navigate" {
		return app.Principal{}, false, nil
	}
	who, err := f.accounts.ByLogin(ctx, cookie.Value)
	if errors.Is(err, app.ErrNotFound) {
		return app.Principal{}, false, nil
	}
	return who, err == nil, err
}

// view is the page for a login that is there.
func (f *Face) view(ctx context.Context, who app.Principal) (loginView, error) {
	u, err := f.accounts.User(ctx, who.User)
	return loginView{Who: u.Email, CSRF: who.CSRF}, err
}

// once signs in the user of a link. Only a page that a person opens uses the link up: a preview of
// it, which a browser or a messenger makes, does not.
func (f *Face) once(ctx context.Context, r *api.Request) (api.Response, error) {
	h := r.HTTP.Header
	if mode := h.Get("Sec-Fetch-Mode"); r.HTTP.Method != http.MethodGet || h.Get("Sec-Purpose") != "" ||
		h.Get("Purpose") != "" || mode != "" && mode != "navigate" {
		return render(http.StatusOK, loginView{Next: "/"})
	}
	id, err := f.accounts.TakeSignInCode(r.Query.Get("once"))
	var user app.User
	if err == nil {
		user, err = f.accounts.User(ctx, id)
	}
	if errors.Is(err, app.ErrNotFound) {
		return render(http.StatusUnauthorized, loginView{Next: "/#host", Problem: wordsOf(r.HTTP).Used})
	}
	if err != nil {
		return nil, err
	}
	if _, err := f.beginBy(r, user, true, app.LoginOrigin{Via: "link"}); err != nil {
		return nil, err
	}
	return goTo("/#host")
}

func (f *Face) page(ctx context.Context, r *api.Request) (api.Response, error) {
	if r.Query.Has("once") {
		return f.once(ctx, r)
	}
	who, ok, err := f.present(ctx, r)
	if err != nil {
		return nil, err
	}
	v := loginView{Next: nextPlace(r.Query.Get("next"))}
	if ok {
		if v, err = f.view(ctx, who); err != nil {
			return nil, err
		}
		return render(http.StatusOK, v)
	}
	if r.Query.Has("changed") {
		v.Notice = wordsOf(r.HTTP).Changed
	}
	v.Providers, err = f.providers(ctx, r.Query.Get("tenant"), v.Next)
	if err != nil {
		return nil, err
	}
	return render(http.StatusOK, v)
}

func (f *Face) submit(_ context.Context, r *api.Request) (api.Response, error) {
	v := loginView{Words: wordsOf(r.HTTP), Next: nextPlace(r.Body.Text("next")), Email: r.Body.Text("email")}
	var err error
	if v.Providers, err = f.providers(r.HTTP.Context(), "", v.Next); err != nil {
		return nil, err
	}
	if err := foreign.Check(r.HTTP); err != nil {
		v.Problem = v.Words.Foreign
		return render(http.StatusForbidden, v)
	}
	user, err := f.Authenticate(r, v.Email, r.Body.Text("password"), false)
	if errors.Is(err, app.ErrNotFound) {
		v.Problem = v.Words.Wrong
		return render(http.StatusUnauthorized, v)
	}
	if err != nil {
		return renderRefusal(r, v, err)
	}
	if _, err := f.Begin(r, user, true); err != nil {
		return nil, err
	}
	return goTo(v.Next)
}

// renderRefusal shows why a password was not checked, and returns any other error.
func renderRefusal(r *api.Request, v loginView, err error) (api.Response, error) {
	var refused *api.Failure
	switch {
	case !errors.As(err, &refused):
		return nil, err
	case refused.Status == http.StatusTooManyRequests:
		api.SetRetryAfter(r.Writer.Header(), refused.After)
		v.Problem = v.Words.TooMany
		return render(refused.Status, v)
	case refused.Kind == api.KindBadArgument:
		v.Problem = v.Words.BadText
		return render(http.StatusBadRequest, v)
	}
	return nil, err
}

// owned is the login that sends a form, which must prove that it comes from the page; refused is
// the answer to others.
func (f *Face) owned(ctx context.Context, r *api.Request) (who app.Principal, refused api.Response, err error) {
	who, ok, err := f.present(ctx, r)
	switch {
	case err != nil:
		return who, nil, err
	case !ok:
		refused, err = render(http.StatusUnauthorized, loginView{Next: "/", Problem: wordsOf(r.HTTP).Gone})
	case foreign.Check(r.HTTP) != nil || !who.Proves(r.Body.Text("csrf")):
		refused, err = render(http.StatusForbidden, loginView{Next: "/", Problem: wordsOf(r.HTTP).Foreign})
	}
	return who, refused, err
}

func (f *Face) changeByForm(ctx context.Context, r *api.Request) (api.Response, error) {
	who, refused, err := f.owned(ctx, r)
	if refused != nil || err != nil {
		return refused, err
	}
	v, err := f.view(ctx, who)
	if err != nil {
		return nil, err
	}
	v.Words = wordsOf(r.HTTP)
	err = f.ChangePassword(r, who, r.Body.Text("old"), r.Body.Text("new"))
	var bad *app.Error
	switch {
	case errors.As(err, &bad):
		v.Problem = v.Words.TooShort
		if bad.Code == app.CodeWrongPassword {
			v.Problem = v.Words.WrongOld
		}
		return render(api.StatusFor(nil, bad).HTTP, v)
	case err != nil:
		return renderRefusal(r, v, err)
	}
	act := app.WithAct(ctx, who, app.ActOwnPassword, who.User, r.Client().String())
	if err := f.audit.Finish(act); err != nil {
		return nil, err
	}
	return goTo("/login?changed")
}

func (f *Face) logout(ctx context.Context, r *api.Request) (api.Response, error) {
	who, refused, err := f.owned(ctx, r)
	if refused != nil || err != nil {
		return refused, err
	}
	token, err := f.tokenOf(ctx, r, who)
	if err != nil {
		return nil, err
	}
	if err := f.End(r); err != nil { // first, since the provider may not answer
		return nil, err
	}
	end, err := f.endAt(ctx, r, who, token)
	if err != nil {
		return nil, err
	}
	if end != nil {
		return render(http.StatusOK, loginView{End: end})
	}
	return goTo("/login")
}
