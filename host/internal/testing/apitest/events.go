package apitest

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Event is one event of our own stream.
type Event struct{ ID, Kind, Data string }

// Watch reads events until n have come (0: until the end).
func (s *Site) Watch(path, last string, n int) []Event {
	s.T.Helper()
	ctx, stop := context.WithTimeout(s.T.Context(), 2*time.Minute)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+path, nil)
	require.NoError(s.T, err)
	req.Header.Set("Authorization", "Bearer one")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.T, err)
	defer res.Body.Close()
	require.Equal(s.T, 200, res.StatusCode)
	var out []Event
	var e Event
	for in := bufio.NewScanner(res.Body); in.Scan(); {
		key, value, _ := strings.Cut(in.Text(), ": ")
		switch key {
		case "id":
			e.ID = value
		case "event":
			e.Kind = value
		case "data":
			e.Data = value
			out = append(out, e)
			if len(out) == n {
				return out
			}
		}
	}
	return out
}

// WatchBriefly opens a stream and returns the function that leaves it.
func (s *Site) WatchBriefly(path string) (leave func()) {
	ctx, stop := context.WithCancel(s.T.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+path, nil)
	require.NoError(s.T, err)
	req.Header.Set("Authorization", "Bearer one")
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.T, err)
	return func() {
		stop()
		_ = res.Body.Close()
	}
}

// KindsOf are the names of events.
func KindsOf(events []Event) string {
	var out []string
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return strings.Join(out, " ")
}

// Fuzzed answers one request; none may be an HTTP 500, panic or take long.
func (s *Site) Fuzzed(t *testing.T, r *http.Request) {
	t.Helper()
	ctx, done := context.WithTimeout(r.Context(), time.Minute)
	w := httptest.NewRecorder()
	s.API.Handler().ServeHTTP(w, r.WithContext(ctx))
	late := ctx.Err()
	done()
	internal := strings.Contains(w.Body.String(), "the host's log says why") ||
		strings.Contains(w.Body.String(), "internal error; the log of the host")
	if w.Code >= 500 && w.Code != http.StatusBadGateway || late != nil || internal {
		t.Fatalf("%s %s: %d %v %s", r.Method, r.URL, w.Code, late, w.Body)
	}
}

// LoggedIn makes a user of tenant "one" and logs it in: its cookie, CSRF text
// and the text for the Authorization header.
func (s *Site) LoggedIn() (cookie, csrf, login string) {
	s.T.Helper()
	ann := store.User{Email: "ann@x.org", Nickname: "Ann"}
	_, err := s.Store.Users.CreateMember(
		s.T.Context(), store.Member{Tenant: "one", Role: app.RoleOwner}, ann, "correct horse",
	)
	require.NoError(s.T, err)
	a := s.Good(s.Request("POST", "/v1/user/login", "", `{"email":"ann@x.org","password":"correct horse"}`))
	cookie, _, _ = strings.Cut(a.Header.Get("Set-Cookie"), ";")
	require.NotEmpty(s.T, cookie)
	return cookie, a.Header.Get(api.CSRFHeader), a.Header.Get("Authorization")
}
