package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/store"
)

// loginPaths are all addresses at which a password is checked without a login.
var loginPaths = []string{"/v1/user/login", "/api/v1/auth/login", "/0.27/v1/user/login", "/0.27/api/v1/auth/login", "/login"}

// loginSite is a host behind a proxy on the loopback, with an account ann@x.org.
func loginSite(t *testing.T) *site {
	loopback, err := ParseProxies([]string{"127.0.0.0/8", "::1"})
	require.NoError(t, err)
	s := newSite(t, func(c *Config) { c.TrustedProxies = loopback })
	ann := store.User{Email: "Ann@X.org", Nickname: "Ann"}
	_, err = s.store.CreateMember(t.Context(), store.Member{Tenant: "one", Role: roleOwner}, ann, "correct horse")
	require.NoError(t, err)
	return s
}

// logIn sends a password from an address; header holds pairs.
func (s *site) logIn(path, email, password, address string, header ...string) answer {
	s.t.Helper()
	body := fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)
	return s.request("POST", path, "", body, append([]string{"X-Forwarded-For", address}, header...)...)
}

// loggedInBy reports whether an answer of a login route is a login.
func loggedInBy(a answer) bool {
	return a.status == http.StatusSeeOther || a.status == http.StatusOK && a.code() == 0
}

// stayHere keeps the tests' client from following the redirect of the login page.
func stayHere(t *testing.T) {
	before := http.DefaultClient.CheckRedirect
	http.DefaultClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(func() { http.DefaultClient.CheckRedirect = before })
}

func TestDistributedGuessingLocksNobodyOut(t *testing.T) {
	s := loginSite(t)
	stayHere(t)
	spellings := []string{"ann@x.org", "ANN@x.org", "Ann@X.org", "aNn@X.ORG", "ann@x.oRg", "aNN@x.org", "anN@x.org"}
	for i := range 25 {
		s.logIn(loginPaths[i%len(loginPaths)], spellings[0], "a guess", fmt.Sprintf("198.51.100.%d", i))
	}
	for i, path := range loginPaths {
		a := s.logIn(path, "ann@x.org", "correct horse", fmt.Sprintf("203.0.113.%d", i))
		require.True(t, loggedInBy(a), "%s: a correct password from an address that did not fail: %d %s", path, a.status, a.text)
	}
	guesses := 0
	for i, spelling := range spellings {
		if s.logIn(loginPaths[i%len(loginPaths)], spelling, "a guess", "192.0.2.1").status != http.StatusTooManyRequests {
			guesses++
		}
	}
	require.Equal(t, 5, guesses, "guesses of one unknown address into an account under attack, however it is spelled")
}

func TestKnownDevicesAndAddressesLogInBesideGuessing(t *testing.T) {
	s := loginSite(t)
	const office, elsewhere = "203.0.113.1", "198.51.100.7"
	first := s.good(s.logIn(loginPaths[0], "ann@x.org", "correct horse", office))
	var device string
	for _, line := range first.header.Values("Set-Cookie") {
		if cookie, rest, _ := strings.Cut(line, ";"); strings.HasPrefix(cookie, deviceCookie+"=") {
			device = cookie
			require.Contains(t, rest, "HttpOnly")
			require.Contains(t, rest, "SameSite=Strict")
		}
	}
	require.NotEmpty(t, device)
	for _, address := range []string{office, elsewhere} {
		for n := 0; s.logIn(loginPaths[1], fmt.Sprintf("bob%d@x.org", n), "a guess", address).status != http.StatusTooManyRequests; n++ {
			require.Less(t, n, 30)
		}
	}
	require.Equal(t, http.StatusTooManyRequests, s.logIn(loginPaths[0], "bob@x.org", "a guess", office).status)
	s.good(s.logIn(loginPaths[0], "ann@x.org", "correct horse", office))
	a := s.logIn(loginPaths[0], "ann@x.org", "correct horse", elsewhere)
	require.Equal(t, http.StatusTooManyRequests, a.status, "this address failed too often itself")
	require.NotEmpty(t, a.header.Get("Retry-After"))
	require.Equal(t, http.StatusTooManyRequests, s.logIn(loginPaths[0], "bob@x.org", "a guess", elsewhere, "Cookie", device).status,
		"the cookie of one account is none of another")
	forged := deviceCookie + "=" + strings.Repeat("A", 60)
	require.Equal(t, http.StatusTooManyRequests, s.logIn(loginPaths[0], "ann@x.org", "correct horse", elsewhere, "Cookie", forged).status)
	s.good(s.logIn(loginPaths[0], "ann@x.org", "correct horse", elsewhere, "Cookie", device))
	guesses := 0
	for range 15 {
		if s.logIn(loginPaths[0], "ann@x.org", "a guess", elsewhere, "Cookie", device).status != http.StatusTooManyRequests {
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
			if s.logIn(loginPaths[0], "ann@x.org", "a guess", address).status != http.StatusTooManyRequests {
				checked.Add(1)
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, checked.Load(), int32(11))
	s.good(s.logIn(loginPaths[0], "ann@x.org", "correct horse", "2001:db8:0:8::1"))
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
			a := s.request("POST", path, "", c.body)
			require.False(t, loggedInBy(a), "%s %s", path, c.body)
			require.Empty(t, a.header.Values("Set-Cookie"))
			if path == "/login" {
				require.Equal(t, http.StatusBadRequest, a.status)
				require.Contains(t, a.text, `role="alert"`)
				require.Contains(t, a.text, "control characters")
				continue
			}
			require.Equal(t, codeArgument, a.code(), a.text)
			require.Equal(t, "argument "+c.name+" must be UTF-8 text without control characters", a.message())
		}
	}
	s.good(s.logIn(loginPaths[0], "ann@x.org", "correct horse", "203.0.113.1"))
}

// attempts is how many attempts a brake admits before it makes one wait.
func attempts(t *testing.T, b *loginBrake, l loginAttempt) (n int, wait time.Duration) {
	t.Helper()
	for {
		admitted, wait, err := b.admit(t.Context(), l)
		require.NoError(t, err)
		if wait > 0 {
			return n, wait
		}
		admitted.close(false)
		n++
	}
}

func TestLoginBrakeOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newLoginBrake()
		n, wait := attempts(t, b, loginAttempt{network: "a", account: "ann"})
		require.Equal(t, 10, n)
		require.Equal(t, 6*time.Second, wait.Round(time.Second), "the network waits for the account's minute only when it tries it again")
		time.Sleep(wait)
		n, wait = attempts(t, b, loginAttempt{network: "a", account: "ann"})
		require.Zero(t, n)
		require.Equal(t, 54*time.Second, wait.Round(time.Second))
		n, _ = attempts(t, b, loginAttempt{network: "a", account: "bob"})
		require.Equal(t, 1, n)

		day, guesses := time.Now().Add(24*time.Hour), 0
		for time.Now().Before(day) {
			for i := range 100 {
				n, _ := attempts(t, b, loginAttempt{network: fmt.Sprint("net ", i), account: "eve"})
				guesses += n
			}
			time.Sleep(10 * time.Second)
		}
		const shared, each = 20 + 24*3600/10, 5 + 24 + 1
		require.LessOrEqual(t, guesses, shared+100*each, "100 networks, one account, one day")
		n, _ = attempts(t, b, loginAttempt{network: "fresh", account: "eve"})
		require.Positive(t, n)
		n, _ = attempts(t, b, loginAttempt{network: "net 1", account: "eve", device: "hers"})
		require.Equal(t, 10, n)
	})
}

func TestSucceededLoginsCountForNothing(t *testing.T) {
	b := newLoginBrake()
	l := loginAttempt{network: "office", account: "ann"}
	for range 100 {
		admitted, wait, err := b.admit(t.Context(), l)
		require.NoError(t, err)
		require.Zero(t, wait)
		admitted.close(true)
	}
	require.Len(t, b.networks.list, 1)
}

func TestUnknownNetworksLeaveRoomForKnownOnes(t *testing.T) {
	b := newLoginBrake()
	for i := range cap(b.unknowns) {
		_, _, err := b.admit(t.Context(), loginAttempt{network: fmt.Sprint(i), account: "ann"})
		require.NoError(t, err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, _, err := b.admit(gone, loginAttempt{network: "one more", account: "ann"})
	require.ErrorIs(t, err, context.Canceled)
	for _, l := range []loginAttempt{{network: "n", account: "ann", device: "hers"}, {network: "n", account: "ann", known: true}} {
		_, wait, err := b.admit(gone, l)
		require.NoError(t, err)
		require.Zero(t, wait)
	}
}

func TestLoginBrakeIsBounded(t *testing.T) {
	b := newLoginBrake()
	long := strings.Repeat("x", 1<<10)
	for i := range mostNames * 5 / 4 {
		l := loginAttempt{network: fmt.Sprint(i), account: long + fmt.Sprint(i)}
		admitted, _, err := b.admit(t.Context(), l)
		require.NoError(t, err)
		admitted.close(false)
		b.known.add(l.pair())
	}
	for _, th := range []*throttle{&b.networks, &b.accounts, &b.pairs, &b.wary, &b.devices} {
		require.LessOrEqual(t, len(th.list), mostNames)
	}
	require.LessOrEqual(t, len(b.known.list), mostNames)
	for name := range b.accounts.list {
		require.Len(t, name, 32)
	}
}
