package identity_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app/identity"
	"github.com/easel-canvas/easel/host/internal/app/identity/identitytest"
)

const back = "http://127.0.0.1:9380/login/oidc/corp/callback"

func config(p *identitytest.Provider) identity.Config {
	return identity.Config{ID: "corp", Issuer: p.Issuer, Client: "easel", Secret: "hush", GroupsClaim: "groups"}
}

// signIn runs the whole flow; alter changes the response of the browser.
func signIn(
	t *testing.T, p *identitytest.Provider, c *identity.Provider, alter func(url.Values, *identity.Attempt),
) (identity.Person, error) {
	t.Helper()
	address, attempt, err := c.Begin(t.Context(), back)
	require.NoError(t, err)
	answer := p.Authorize(address)
	if alter != nil {
		alter(answer, &attempt)
	}
	return c.Finish(t.Context(), back, attempt, answer)
}

func TestSignIn(t *testing.T) {
	p := identitytest.New(t)
	p.Claims = jwt.MapClaims{"groups": []string{"staff", "ops"}}
	person, err := signIn(t, p, identity.New(config(p), nil, nil), nil)
	require.NoError(t, err)
	require.NotEmpty(t, person.Token)
	person.Token = ""
	require.Equal(t, identity.Person{
		Issuer: p.Issuer, Subject: "ann", Email: "ann@corp.example", Name: "Ann", Groups: []string{"staff", "ops"},
	}, person)
}

func TestForgedTokens(t *testing.T) {
	none := func(token *jwt.Token) string {
		unsigned := jwt.NewWithClaims(jwt.SigningMethodNone, token.Claims)
		text, err := unsigned.SignedString(jwt.UnsafeAllowNoneSignatureType)
		require.NoError(t, err)
		return text
	}
	stranger := identitytest.New(t)
	now := time.Now()
	for name, change := range map[string]func(*identitytest.Provider){
		"nonce":         func(p *identitytest.Provider) { p.Claims = jwt.MapClaims{"nonce": "other"} },
		"no nonce":      func(p *identitytest.Provider) { p.Claims = jwt.MapClaims{"nonce": nil} },
		"issuer":        func(p *identitytest.Provider) { p.Claims = jwt.MapClaims{"iss": stranger.Issuer} },
		"audience":      func(p *identitytest.Provider) { p.Claims = jwt.MapClaims{"aud": "other"} },
		"two audiences": func(p *identitytest.Provider) { p.Claims = jwt.MapClaims{"aud": []string{"easel", "other"}} },
		"other party":   func(p *identitytest.Provider) { p.Claims = jwt.MapClaims{"azp": "other"} },
		"no subject":    func(p *identitytest.Provider) { p.Claims = jwt.MapClaims{"sub": nil} },
		"expired": func(p *identitytest.Provider) {
			p.Claims = jwt.MapClaims{"exp": now.Add(-2 * time.Minute).Unix()}
		},
		"issued ahead": func(p *identitytest.Provider) {
			p.Claims = jwt.MapClaims{"iat": now.Add(5 * time.Minute).Unix()}
		},
		"alg none": func(p *identitytest.Provider) { p.Sign = none },
		"alg none named": func(p *identitytest.Provider) {
			p.Sign = none
			p.Metadata = map[string]any{"id_token_signing_alg_values_supported": []string{"none", "RS256"}}
		},
		"alg HS256": func(p *identitytest.Provider) {
			p.Sign = func(token *jwt.Token) string {
				text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, token.Claims).SignedString(p.Public())
				require.NoError(t, err)
				return text
			}
		},
		"groups of numbers": func(p *identitytest.Provider) { p.Claims = jwt.MapClaims{"groups": []int{1}} },
		"groups as object": func(p *identitytest.Provider) {
			p.Claims = jwt.MapClaims{"groups": map[string]int{"owners": 1}}
		},
		"userinfo of another person": func(p *identitytest.Provider) {
			p.UserInfo = map[string]any{"sub": "bob", "groups": []string{"owners"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := identitytest.New(t)
			_, err := signIn(t, p, identity.New(config(p), nil, nil), nil)
			require.NoError(t, err, "without the change")
			change(p)
			_, err = signIn(t, p, identity.New(config(p), nil, nil), nil)
			require.ErrorIs(t, err, identity.ErrToken)
		})
	}
}

func TestForgedResponses(t *testing.T) {
	p := identitytest.New(t)
	c := identity.New(config(p), nil, nil)
	for name, one := range map[string]struct {
		alter func(url.Values, *identity.Attempt)
		want  error
	}{
		"state of another browser": {func(v url.Values, _ *identity.Attempt) {
			v.Set("state", "other")
		}, identity.ErrAttempt},
		"no attempt": {func(v url.Values, a *identity.Attempt) {
			*a = identity.Attempt{}
			v.Del("state")
		}, identity.ErrAttempt},
		"issuer": {func(v url.Values, _ *identity.Attempt) {
			v.Set("iss", "https://other.example")
		}, identity.ErrToken},
		"verifier": {func(_ url.Values, a *identity.Attempt) {
			a.Verifier = "other"
		}, identity.ErrRefused},
		"code": {func(v url.Values, _ *identity.Attempt) {
			v.Set("code", "other")
		}, identity.ErrRefused},
		"no code": {func(v url.Values, _ *identity.Attempt) { v.Del("code") }, identity.ErrRefused},
		"refused": {func(v url.Values, _ *identity.Attempt) {
			v.Set("error", "access_denied")
		}, identity.ErrRefused},
	} {
		_, err := signIn(t, p, c, one.alter)
		require.ErrorIs(t, err, one.want, name)
	}
	p.Metadata = map[string]any{"authorization_response_iss_parameter_supported": true}
	_, err := signIn(t, p, identity.New(config(p), nil, nil), nil)
	require.ErrorIs(t, err, identity.ErrToken, "an announced iss is missing")
	_, err = signIn(t, p, identity.New(config(p), nil, nil), func(v url.Values, _ *identity.Attempt) {
		v.Set("iss", p.Issuer)
	})
	require.NoError(t, err)
}

// A code that was exchanged signs in once, even at a provider that accepts it twice: the
// verifier and the nonce belong to the first attempt.
func TestReplayedCode(t *testing.T) {
	p := identitytest.New(t)
	c := identity.New(config(p), nil, nil)
	var used string
	_, err := signIn(t, p, c, func(v url.Values, _ *identity.Attempt) { used = v.Get("code") })
	require.NoError(t, err)
	replay := func(v url.Values, _ *identity.Attempt) { v.Set("code", used) }
	_, err = signIn(t, p, c, replay)
	require.ErrorIs(t, err, identity.ErrRefused)
	p.Reuse = true
	_, err = signIn(t, p, c, func(v url.Values, _ *identity.Attempt) { used = v.Get("code") })
	require.NoError(t, err)
	_, err = signIn(t, p, c, replay)
	require.Error(t, err, "the verifier is another one")
}

func TestClockSkew(t *testing.T) {
	p := identitytest.New(t)
	for ahead, ok := range map[time.Duration]bool{
		-30 * time.Second: true, 30 * time.Second: true, 59 * time.Minute: true,
		-90 * time.Second: false, 62 * time.Minute: false,
	} {
		c := identity.New(config(p), nil, func() time.Time { return time.Now().Add(ahead) })
		_, err := signIn(t, p, c, nil)
		require.Equal(t, ok, err == nil, "clock of this host %s ahead: %v", ahead, err)
	}
}

func TestKeyRotation(t *testing.T) {
	p := identitytest.New(t)
	c := identity.New(config(p), nil, nil)
	_, err := signIn(t, p, c, nil)
	require.NoError(t, err)
	p.Rotate()
	_, err = signIn(t, p, c, nil)
	require.NoError(t, err, "the new key is read")
}

func TestIssuerWithSlash(t *testing.T) {
	p := identitytest.New(t)
	cfg := config(p)
	for _, announced := range []string{p.URL, p.URL + "/"} {
		p.Issuer = announced
		for _, set := range []string{p.URL, p.URL + "/"} {
			cfg.Issuer = set
			person, err := signIn(t, p, identity.New(cfg, nil, nil), func(v url.Values, _ *identity.Attempt) {
				v.Set("iss", announced)
			})
			require.NoError(t, err, "%s set as %s", announced, set)
			require.Equal(t, announced, person.Issuer)
		}
	}
	p.Issuer = "https://other.example"
	_, _, err := identity.New(cfg, nil, nil).Begin(t.Context(), back)
	require.ErrorIs(t, err, identity.ErrUnreachable)
}

func TestGroups(t *testing.T) {
	p := identitytest.New(t)
	person, err := signIn(t, p, identity.New(config(p), nil, nil), nil)
	require.NoError(t, err)
	require.Nil(t, person.Groups, "an absent claim is not an empty one")
	for _, c := range []struct {
		claims   jwt.MapClaims
		userInfo map[string]any
		want     []string
	}{
		{jwt.MapClaims{"groups": []string{}}, nil, []string{}},
		{jwt.MapClaims{"groups": "staff"}, nil, []string{"staff"}},
		{nil, map[string]any{"sub": "ann", "groups": []string{"ops"}}, []string{"ops"}},
		{
			jwt.MapClaims{"groups": []string{"token"}},
			map[string]any{"sub": "ann", "groups": []string{"ops"}},
			[]string{"token"},
		},
	} {
		p.Claims, p.UserInfo = c.claims, c.userInfo
		person, err := signIn(t, p, identity.New(config(p), nil, nil), nil)
		require.NoError(t, err)
		require.Equal(t, c.want, person.Groups)
	}
	p.UserInfo = nil
	p.Claims = jwt.MapClaims{
		"_claim_names":   map[string]string{"groups": "src1"},
		"_claim_sources": map[string]any{"src1": map[string]string{"endpoint": "https://graph.example/groups"}},
	}
	_, err = signIn(t, p, identity.New(config(p), nil, nil), nil)
	require.ErrorIs(t, err, identity.ErrOverage)
	cfg := config(p)
	cfg.GroupsClaim = ""
	_, err = signIn(t, p, identity.New(cfg, nil, nil), nil)
	require.NoError(t, err, "groups are not used")
}

func TestEndAddress(t *testing.T) {
	p := identitytest.New(t)
	require.Empty(t, identity.New(config(p), nil, nil).EndAddress(t.Context(), "token", "http://here/login"))
	p.Metadata = map[string]any{"end_session_endpoint": p.URL + "/end?a=b"}
	u, err := url.Parse(identity.New(config(p), nil, nil).EndAddress(t.Context(), "token", "http://here/login"))
	require.NoError(t, err)
	require.Equal(t, url.Values{
		"a": {"b"}, "client_id": {"easel"}, "id_token_hint": {"token"},
		"post_logout_redirect_uri": {"http://here/login"},
	}, u.Query())
	p.Metadata = map[string]any{"end_session_endpoint": "javascript:alert(1)"}
	require.Empty(t, identity.New(config(p), nil, nil).EndAddress(t.Context(), "token", "http://here/login"))
}

func TestParse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("hush\n"), 0o600))
	c, err := identity.Parse("issuer=https://login.corp.example/realms/a,client=easel,secret=" + file +
		",name=Corp Ltd,scopes=profile email groups,groups_claim=groups,owner=it,admin=leads," +
		"normal=staff,normal=guests")
	require.NoError(t, err)
	require.Equal(t, identity.Config{
		ID: "corp-ltd", Name: "Corp Ltd", Issuer: "https://login.corp.example/realms/a", Client: "easel",
		Secret: "hush", Scopes: []string{"profile", "email", "groups"}, GroupsClaim: "groups",
		Roles: map[string]string{"it": "owner", "leads": "admin", "staff": "normal", "guests": "normal"},
	}, c)
	c, err = identity.Parse("issuer=http://127.0.0.1:1,client=easel")
	require.NoError(t, err)
	require.Equal(t, "127-0-0-1", c.ID)
	require.Equal(t, []string{"profile", "email"}, c.Scopes)
	for text, want := range map[string]string{
		"":                                                       "KEY=VALUE",
		"issuer=https://a.example":                               "client is empty",
		"issuer=http://a.example,client=x":                       "expected https",
		"issuer=a.example,client=x":                              "expected an address",
		"issuer=https://a.example?x=1,client=x":                  "expected an address",
		"issuer=https://a.example,client=x,color=":               "unknown key",
		"issuer=https://a.example,client=x,admin=ops":            "groups_claim",
		"issuer=https://a.example,client=x,secret=/no/such/file": "secret",
		"issuer=https://a.example,client=x,name=" + strings.Repeat("x", 61): "name is longer",
	} {
		_, err := identity.Parse(text)
		require.ErrorContains(t, err, want, text)
	}
}

// Visitors of a provider that does not answer wait for one request, and leave when they like.
func TestSilentProviderIsAskedOnce(t *testing.T) {
	p := identitytest.New(t)
	reached := p.Hang()
	c := identity.New(config(p), nil, nil)
	begin := func(ctx context.Context, done chan<- error) {
		_, _, err := c.Begin(ctx, back)
		done <- err
	}
	first, second := make(chan error, 1), make(chan error, 1)
	ctx, leave := context.WithCancel(t.Context())
	go begin(ctx, first)
	<-reached
	hurried, leaveToo := context.WithCancel(t.Context())
	go begin(hurried, second)
	leaveToo()
	select {
	case err := <-second:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(time.Minute):
		t.Fatal("a visitor waits for the request of another")
	}
	leave()
	require.ErrorIs(t, <-first, context.Canceled)
	require.Empty(t, reached)
}
