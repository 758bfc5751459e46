package endpoint

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/egress/reach"
)

// answers is a transport that returns one response after the other, and records the times of
// requests.
type answers struct {
	list  []http.Response
	times []time.Duration
	began time.Time
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	a.times = append(a.times, time.Since(a.began))
	res := a.list[0]
	a.list = a.list[1:]
	if res.StatusCode == 0 {
		return nil, errors.New("connection reset")
	}
	return &res, nil
}

func answer(status int, body string, header ...string) http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: h}
}

func post(ctx context.Context, t *testing.T, list ...http.Response) (*answers, map[string]int, error) {
	t.Helper()
	a := &answers{list: list, began: time.Now()}
	e := &Endpoint{URL: "http://models.test/v1", Client: &http.Client{Transport: a}, Retries: 3}
	var out map[string]int
	return a, out, e.Post(ctx, 1, &out)
}

// The key and the texts of a request do not follow a redirect to another origin, not even to
// another port of the same host, where net/http would send both.
func TestRedirectToAnotherOrigin(t *testing.T) {
	requests := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/far":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/near":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		default:
			_, _ = io.WriteString(w, `"`+r.Header.Get("Authorization")+`"`)
		}
	}))
	defer server.Close()
	for _, client := range []*http.Client{nil, {}} {
		e := &Endpoint{URL: server.URL + "/far", Key: "hush", Client: client}
		var out string
		require.ErrorIs(t, e.Post(t.Context(), "text", &out), reach.ErrRedirect)
		require.Zero(t, requests)
		e.URL = server.URL + "/near"
		require.NoError(t, e.Post(t.Context(), "text", &out))
		require.Equal(t, "Bearer hush", out)
	}
}

func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _, err := post(t.Context(), t, answer(429, "", "Retry-After", "7"), answer(0, ""), answer(503, ""),
			answer(200, `{"a":1}`))
		require.NoError(t, err)
		require.Len(t, a.times, 4)
		require.Equal(t, 7*time.Second, a.times[1])
		require.InDelta(t, 1.5, (a.times[2] - a.times[1]).Seconds(), 0.5)
		require.InDelta(t, 3, (a.times[3] - a.times[2]).Seconds(), 1)
	})
}

func TestNoRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, first := range map[string]http.Response{
			"http://models.test/v1: server returned 400 Bad Request: no such model": answer(400, "no such model"),
			"server returned 429":   answer(429, "", "Retry-After", "3600"),
			"not the expected JSON": answer(200, "<html>"),
		} {
			a, _, err := post(t.Context(), t, first)
			require.ErrorContains(t, err, want)
			require.Len(t, a.times, 1)
		}
		a, _, err := post(t.Context(), t, answer(500, "x"), answer(500, "x"), answer(500, "x"), answer(500, "last"))
		require.ErrorContains(t, err, "500 Internal Server Error: last")
		require.Len(t, a.times, 4)
	})
}

// Users read these errors in their documents and runs.
func TestErrorsHideCredentials(t *testing.T) {
	for _, url := range []string{
		"http://u:hush@models.test/v1", "http://models.test/v1?key=hush", "http://u:hush%zz@models.test",
	} {
		e := &Endpoint{
			URL: url, Retries: -1,
			Client: &http.Client{Transport: &answers{list: []http.Response{answer(500, "x"), answer(0, "")}}},
		}
		for range 2 {
			err := e.Post(t.Context(), 1, new(int))
			require.ErrorContains(t, err, "models.test")
			require.NotContains(t, err.Error(), "hush")
		}
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, _, err := post(ctx, t, answer(429, "slow down", "Retry-After", "50"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "slow down")
	})
}
