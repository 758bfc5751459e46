package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/apitest"
	"github.com/easel-canvas/easel/host/internal/api/faces"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/broker"
	"github.com/easel-canvas/easel/host/internal/durable"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// refuse answers a request whose handler returns an error, in the form of a face.
func refuse(t *testing.T, face string, err error) *httptest.ResponseRecorder {
	t.Helper()
	like := map[string]string{
		"v2": "/api/v2/me", "openai": "/api/llm/models", "agents": "/api/v1/agents_openai/{id}/chat/completions",
		"dialects": "/api/v1/agents",
	}[face]
	cfg := api.Config{Services: &app.Services{}, Logger: apitest.Quiet}
	routes := faces.New(cfg, "").Routes()
	i := slices.IndexFunc(routes, func(r api.Route) bool { return r.Path == like })
	require.GreaterOrEqual(t, i, 0, like)
	cfg.Routes = []api.Route{{
		Method: "POST", Path: "/", Body: api.BodyTiny, Need: api.NeedNone, Fail: routes[i].Fail,
		Handler: func(context.Context, *api.Request) (api.Response, error) { return nil, err },
	}}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	api.New(cfg).Handler().ServeHTTP(w, r)
	return w
}

// A host that cannot do its work says which part of it cannot, and when to come again, in every
// envelope.
func TestFailuresOfTheHost(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{broker.ErrUnavailable, 503, "its run log does not answer"},
		{store.ErrUnavailable, 503, "its database does not answer"},
		{durable.ErrClosed, 503, "it is stopping"},
		{runlog.ErrStopping, 503, "it is stopping"},
		{store.ErrFull, 507, "cannot store anything now: disk is full"},
		{broker.ErrFull, 507, "cannot store anything now: storage of the run log is full"},
		{store.ErrReadOnly, 507, "cannot store anything now: database is read-only"},
		{broker.ErrReadOnly, 507, "cannot store anything now: disk of the run log is read-only"},
	} {
		for _, dialect := range []string{"dialects", "v2", "openai"} {
			w := refuse(t, dialect, fmt.Errorf("start run: %w (secret detail)", c.err))
			require.Equal(t, c.status, w.Code, "%s: %v", dialect, c.err)
			v, err := engine.ParseJSON(w.Body.Bytes())
			require.NoError(t, err)
			message := v.Get("message").Str()
			if dialect != "dialects" {
				message = v.Get("error").Get("message").Str()
			} else {
				require.Equal(t, "500", v.Get("code").Text())
			}
			require.Contains(t, message, c.says)
			require.NotContains(t, w.Body.String(), "secret detail")
			if c.status == http.StatusServiceUnavailable {
				after, err := strconv.Atoi(w.Header().Get("Retry-After"))
				require.NoError(t, err)
				require.Positive(t, after)
			}
		}
	}
}

// An error that nobody foresaw is the host's, not the request's.
func TestUnforeseenErrorsAreTheHosts(t *testing.T) {
	for _, name := range []string{"v2", "openai", "agents", "dialects"} {
		w := refuse(t, name, fmt.Errorf("claim: %w", runlog.ErrActive))
		want := http.StatusInternalServerError
		if name == "dialects" {
			want = http.StatusOK // their code says it
		}
		require.Equal(t, want, w.Code, name)
	}
}
