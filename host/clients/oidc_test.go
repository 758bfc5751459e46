package clients

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// browser keeps cookies and follows redirects, as a person without scripts does.
type browser struct {
	t      *testing.T
	client *http.Client
	at     *url.URL // of the page
	page   string
	status int
}

func newBrowser(t *testing.T) *browser {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &browser{t: t, client: &http.Client{Jar: jar}}
}

func (b *browser) do(req *http.Request, err error) {
	b.t.Helper()
	require.NoError(b.t, err)
	res, err := b.client.Do(req)
	require.NoError(b.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	b.at, b.page, b.status = res.Request.URL, html.UnescapeString(string(text)), res.StatusCode
}

func (b *browser) open(address string) {
	b.t.Helper()
	b.do(http.NewRequestWithContext(b.t.Context(), "GET", address, nil))
}

var (
	formAction = regexp.MustCompile(`<form[^>]*action="([^"]*)"`)
	hidden     = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
)

// submit sends the first form of the page with values besides the hidden ones.
func (b *browser) submit(values url.Values) {
	b.t.Helper()
	found := formAction.FindStringSubmatch(b.page)
	require.Len(b.t, found, 2, "a page with a form: %s %s", b.at, b.page)
	target, err := b.at.Parse(found[1])
	require.NoError(b.t, err)
	for _, field := range hidden.FindAllStringSubmatch(b.page, -1) {
		if !values.Has(field[1]) {
			values.Set(field[1], field[2])
		}
	}
	req, err := http.NewRequestWithContext(b.t.Context(), "POST", target.String(), strings.NewReader(values.Encode()))
	require.NoError(b.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", target.Scheme+"://"+target.Host)
	b.do(req, nil)
}

// me is who the browser is logged in as at a host.
func (b *browser) me(s *server) (email, role string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), "GET", s.url+"/api/v2/me", nil)
	require.NoError(b.t, err)
	req.Header.Set("X-Easel-Page", "page")
	res, err := b.client.Do(req)
	require.NoError(b.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	var me struct{ Email, Role string }
	answer{res.StatusCode, res.Header, text}.into(b.t, &me)
	return me.Email, me.Role
}

// provider starts an OpenID provider and adds it to a host as corp.
func provider(t *testing.T, s *server, settings map[string]any, command ...string) (issuer string) {
	t.Helper()
	ready := make(chan string, 1)
	back := s.url + "/login/oidc/corp/callback"
	cmd := exec.Command(command[0], append(command[1:], "easel", "a secret of the client", back, s.url+"/login")...)
	start(t, cmd, func(line string) {
		if v, ok := strings.CutPrefix(line, "issuer "); ok {
			ready <- v
		}
	})
	issuer = await(t, "the provider's issuer", ready)
	settings["issuer"], settings["client"], settings["secret"] = issuer, "easel", "a secret of the client"
	a := s.call("PUT", "/api/v2/oidc/corp", settings)
	require.Equal(t, 200, a.status, "%s", a.text)
	return issuer
}

// TestSignInAtOIDCProvider signs people in at npm's oidc-provider, a certified one, with groups,
// and logs out there.
func TestSignInAtOIDCProvider(t *testing.T) {
	needNode(t)
	s := serve(t, nil, "--allow-private")
	provider(t, s, map[string]any{
		"name": "Corp", "scopes": []string{"profile", "email", "groups"}, "groups_claim": "groups",
		"roles": map[string]string{"it": "owner", "staff": "normal"},
	}, "node", "oidc.mjs")
	for login, role := range map[string]string{"boss": "owner", "ann": "normal"} {
		b := newBrowser(t)
		b.open(s.url + "/login")
		require.Contains(t, b.page, "Log in with Corp")
		b.open(s.url + "/login/oidc/corp")
		b.submit(url.Values{"login": {login}, "password": {"any"}})
		b.submit(url.Values{}) // consent
		require.Equal(t, s.url+"/#host", b.at.String(), b.page)
		email, got := b.me(s)
		require.Equal(t, login+"@corp.example", email)
		require.Equal(t, role, got)

		b.open(s.url + "/login")
		b.submit(url.Values{}) // log out
		end := regexp.MustCompile(`href="(http[^"]+)"`).FindStringSubmatch(b.page)
		require.Len(t, end, 2, b.page)
		b.open(end[1])
		b.submit(url.Values{"logout": {"yes"}})
		require.Equal(t, s.url+"/login", b.at.Scheme+"://"+b.at.Host+b.at.Path, "the provider knows where to go back")
		b.open(s.url + "/login/oidc/corp")
		require.Contains(t, b.page, `name="login"`, "the session at the provider has ended too")
	}
}

// TestSignInAtZitadel signs in at the example provider of zitadel/oidc, whose issuer ends in a
// slash and whose claims are at the userinfo endpoint.
func TestSignInAtZitadel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "zitadel")
	build := exec.Command("go", "build", "-o", file, ".")
	build.Dir, build.Env = "zitadel", append(build.Environ(), "GOWORK=off")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	s := serve(t, nil, "--allow-private")
	issuer := provider(t, s, map[string]any{"new_role": "normal"}, file)
	require.True(t, strings.HasSuffix(issuer, "/"))
	b := newBrowser(t)
	b.open(s.url + "/login/oidc/corp")
	b.submit(url.Values{"username": {"test-user@127.0.0.1"}, "password": {"verysecure"}})
	require.Equal(t, s.url+"/#host", b.at.String(), b.page)
	email, role := b.me(s)
	require.Equal(t, "test-user@zitadel.ch", email)
	require.Equal(t, "normal", role)
}
