package login_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/login"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// loginPaths are all addresses at which a password is checked without a login.
var loginPaths = []string{"/v1/user/login", "/api/v1/auth/login", "/0.27/v1/user/login", "/0.27/api/v1/auth/login", "/login"}

// loginSite is a host behind a proxy on the loopback, with an account ann@x.org.
func loginSite(t *testing.T) *apitest.Site {
	loopback, err := api.ParseProxies([]string{"127.0.0.0/8", "::1"})
	require.NoError(t, err)
	s := apitest.New(t, apitest.Frozen, func(c *apitest.Config) { c.TrustedProxies = loopback })
	ann := store.User{Email: "Ann@X.org", Nickname: "Ann"}
	_, err = s.Store.Users.CreateMember(
		t.Context(), store.Member{Tenant: "one", Role: app.RoleOwner}, ann, "correct horse",
	)
	require.NoError(t, err)
	return s
}

// logIn sends a password from an address; header contains pairs.
func logIn(s *apitest.Site, path, email, password, address string, header ...string) apitest.Answer {
	s.T.Helper()
	body := fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)
	return s.Request("POST", path, "", body, append([]string{"X-Forwarded-For", address}, header...)...)
}

// loggedInBy reports whether an answer of a login route is a login.
func loggedInBy(a apitest.Answer) bool {
	return a.Status == http.StatusSeeOther || a.Status == http.StatusOK && a.Code() == 0
}

// stayHere keeps the tests' client from following the redirect of the login page.
func stayHere(t *testing.T) {
	before := http.DefaultClient.CheckRedirect
	http.DefaultClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(func() { http.DefaultClient.CheckRedirect = before })
}

func TestDistributedGuessingLocksNoAccount(t *testing.T) {
	s := loginSite(t)
	stayHere(t)
	spellings := []string{"ann@x.org", "ANN@x.org", "Ann@X.org", "aNn@X.ORG", "ann@x.oRg", "aNN@x.org", "anN@x.org"}
	for i := range 25 {
		logIn(s, loginPaths[i%len(loginPaths)], spellings[0], "a guess", fmt.Sprintf("198.51.100.%d", i))
	}
	for i, path := range loginPaths {
		a := logIn(s, path, "ann@x.org", "correct horse", fmt.Sprintf("203.0.113.%d", i))
		require.True(t, loggedInBy(a), "%s: a correct password from an address that did not fail: %d %s", path, a.Status, a.Text)
	}
	guesses := 0
	for i, spelling := range spellings {
		if logIn(s, loginPaths[i%len(loginPaths)], spelling, "a guess", "192.0.2.1").Status != http.StatusTooManyRequests {
			guesses++
		}
	}
	require.Equal(t, 5, guesses, "guesses of one unknown address into an account under attack, however it is spelled")
}

func TestKnownDevicesAndAddressesLogInBesideGuessing(t *testing.T) {
	s := loginSite(t)
	const office, elsewhere = "203.0.113.1", "198.51.100.7"
	first := s.Good(logIn(s, loginPaths[0], "ann@x.org", "correct horse", office))
	var device string
	for _, line := range first.Header.Values("Set-Cookie") {
		if cookie, rest, _ := strings.Cut(line, ";"); strings.HasPrefix(cookie, login.DeviceCookie+"=") {
			device = cookie
			require.Contains(t, rest, "HttpOnly")
			require.Contains(t, rest, "SameSite=Strict")
		}
	}
	require.NotEmpty(t, device)
	for _, address := range []string{office, elsewhere} {
		for n := 0; logIn(s, loginPaths[1], fmt.Sprintf("bob%d@x.org", n), "a guess", address).Status != http.StatusTooManyRequests; n++ {
			require.Less(t, n, 30)
		}
	}
	require.Equal(t, http.StatusTooManyRequests, logIn(s, loginPaths[0], "bob@x.org", "a guess", office).Status)
	s.Good(logIn(s, loginPaths[0], "ann@x.org", "correct horse", office))
	a := logIn(s, loginPaths[0], "ann@x.org", "correct horse", elsewhere)
	require.Equal(t, http.StatusTooManyRequests, a.Status, "this address failed too often itself")
	require.NotEmpty(t, a.Header.Get("Retry-After"))
	require.Equal(t, http.StatusTooManyRequests, logIn(s, loginPaths[0], "bob@x.org", "a guess", elsewhere, "Cookie", device).Status,
		"the cookie of one account is none of another")
	forged := login.DeviceCookie + "=" + strings.Repeat("A", 60)
	require.Equal(t, http.StatusTooManyRequests, logIn(s, loginPaths[0], "ann@x.org", "correct horse", elsewhere, "Cookie", forged).Status)
	s.Good(logIn(s, loginPaths[0], "ann@x.org", "correct horse", elsewhere, "Cookie", device))
	guesses := 0
	for range 15 {
		if logIn(s, loginPaths[0], "ann@x.org", "a guess", elsewhere, "Cookie", device).Status != http.StatusTooManyRequests {
			guesses++
		}
	}
	require.LessOrEqual(t, guesses, 10, "a device cookie is a budget, not a pass")
}

func TestLoginAttemptsAtOnceAreCounted(t *testing.T) {
	s := loginSite(t)
	var checked atomic.Int32
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			address := fmt.Sprintf("[2001:db8:0:7:%x::1]:443", i+1) // one /64
			if logIn(s, loginPaths[0], "ann@x.org", "a guess", address).Status != http.StatusTooManyRequests {
				checked.Add(1)
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, checked.Load(), int32(11))
	s.Good(logIn(s, loginPaths[0], "ann@x.org", "correct horse", "2001:db8:0:8::1"))
}

func TestLoginRefusesControlCharacters(t *testing.T) {
	s := loginSite(t)
	for _, path := range loginPaths {
		for _, c := range []struct{ name, body string }{
			{"email", `{"email":"ann@x.org\u0000","password":"correct horse"}`},
			{"email", `{"email":"\u007fann@x.org","password":"correct horse"}`},
			{"email", `{"email":"ann@x.org\u0085","password":"correct horse"}`},
			{"email", `{"email":"ann\n@x.org","password":"correct horse"}`},
			{"password", `{"email":"ann@x.org","password":"correct horse\u0000"}`},
			{"password", `{"email":"ann@x.org","password":"correct\thorse"}`},
		} {
			a := s.Request("POST", path, "", c.body)
			require.False(t, loggedInBy(a), "%s %s", path, c.body)
			require.Empty(t, a.Header.Values("Set-Cookie"))
			if path == "/login" {
				require.Equal(t, http.StatusBadRequest, a.Status)
				require.Contains(t, a.Text, `role="alert"`)
				require.Contains(t, a.Text, "control characters")
				continue
			}
			require.Equal(t, 101, a.Code(), a.Text)
			require.Equal(t, "argument "+c.name+" must be UTF-8 text without control characters", a.Message())
		}
	}
	s.Good(logIn(s, loginPaths[0], "ann@x.org", "correct horse", "203.0.113.1"))
}
