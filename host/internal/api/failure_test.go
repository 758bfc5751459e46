package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/faces"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// refuse answers a request whose handler returns an error, or panics with nil, in the form of a
// face.
func refuse(t *testing.T, face string, err error) *httptest.ResponseRecorder {
	t.Helper()
	return refuseTo(t, apitest.Quiet, face, err)
}

// refuseTo is refuse with a log.
func refuseTo(t *testing.T, log *slog.Logger, face string, err error) *httptest.ResponseRecorder {
	t.Helper()
	like := map[string]string{
		"v2": "/api/v2/me", "openai": "/api/llm/models", "agents": "/api/v1/agents_openai/{id}/chat/completions",
		"dialects": "/api/v1/agents",
	}[face]
	cfg := api.Config{Services: &app.Services{}, Logger: log, Fail: envelope.Fail}
	routes := faces.New(cfg, "").Routes()
	i := slices.IndexFunc(routes, func(r api.Route) bool { return r.Path == like })
	require.GreaterOrEqual(t, i, 0, like)
	cfg.Routes = []api.Route{{
		Method: "POST", Path: "/", Body: api.BodyTiny, Need: api.NeedNone, Fail: routes[i].Fail,
		Handler: func(context.Context, *api.Request) (api.Response, error) {
			if err == nil {
				panic("handler broke")
			}
			return nil, err
		},
	}}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	api.New(cfg).Handler().ServeHTTP(w, r)
	return w
}

// A host with an unavailable part reports that part, and the time until a retry, in every
// envelope.
func TestFailuresOfTheHost(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{broker.ErrUnavailable, 503, "its run log does not answer"},
		{store.ErrUnavailable, 503, "its database does not answer"},
		{runs.ErrClosed, 503, "it is stopping"},
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

// An unforeseen error is reported as an error of the host, not of the request.
func TestUnforeseenErrorsAreTheHosts(t *testing.T) {
	for _, name := range []string{"v2", "openai", "agents", "dialects"} {
		w := refuse(t, name, fmt.Errorf("claim: %w", runlog.ErrActive))
		want := http.StatusInternalServerError
		if name == "dialects" {
			want = http.StatusOK // their code reports it
		}
		require.Equal(t, want, w.Code, name)
	}
}

// An internal error is in the log of the host, and the response has the request id.
func TestUnforeseenErrorsAreOnlyLogged(t *testing.T) {
	const detail = `open /srv/data/easel.db: dial tcp 10.0.0.7:5432: relation "secrets"`
	for _, face := range []string{"v2", "openai", "agents", "dialects"} {
		var lines bytes.Buffer
		w := refuseTo(t, slog.New(slog.NewTextHandler(&lines, nil)), face, errors.New(detail))
		for _, word := range []string{"easel.db", "10.0.0.7", "secrets"} {
			require.NotContains(t, w.Body.String(), word, face)
			require.Contains(t, lines.String(), word, face)
		}
		_, id, ok := strings.Cut(w.Body.String(), "under request ")
		require.True(t, ok, w.Body.String())
		id, _, _ = strings.Cut(id, `"`)
		require.Contains(t, lines.String(), "request="+id, face)
	}
}

// Errors that callers can act on are sent as they are.
func TestPublicErrors(t *testing.T) {
	for _, public := range []error{app.ErrCanvas, app.ErrRecord, app.ErrGone, app.ErrNoFile, engine.ErrRef} {
		f, internal := api.AsFailure(fmt.Errorf("canvas %q: %w", "faq", public))
		require.False(t, internal)
		require.Equal(t, `canvas "faq": `+public.Error(), f.Message)
	}
}

// A handler that panics is answered in the form of its face.
func TestPanicIsAnsweredInTheFormOfTheFace(t *testing.T) {
	for face, want := range map[string]struct {
		status int
		member string
	}{
		"v2": {500, "error"}, "openai": {500, "error"}, "agents": {500, "error"}, "dialects": {200, "data"},
	} {
		w := refuse(t, face, nil)
		require.Equal(t, want.status, w.Code, face)
		v, err := engine.ParseJSON(w.Body.Bytes())
		require.NoError(t, err)
		require.True(t, has(v, want.member), "%s: %s", face, w.Body)
	}
	w := refuse(t, "dialects", nil)
	require.Equal(t, `{"code":100,"data":null,"message":"the request broke; the host's log says why"}`, w.Body.String())
}

func has(v engine.Value, member string) bool {
	_, ok := v.Lookup(member)
	return ok
}

// An API without faces answers text.
func TestFailuresWithoutAFace(t *testing.T) {
	a := api.New(api.Config{Services: &app.Services{}, Logger: apitest.Quiet, Routes: []api.Route{{
		Method: "POST", Path: "/", Body: api.BodyTiny, Need: api.NeedNone,
		Handler: func(context.Context, *api.Request) (api.Response, error) {
			return nil, api.Failed(api.KindBusy, "wait")
		},
	}}})
	for _, c := range []struct {
		method, path string
		status       int
		says         string
	}{{"POST", "/", 409, "wait\n"}, {"GET", "/", 405, "Method Not Allowed\n"}, {"GET", "/x", 404, "Not Found\n"}} {
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil))
		require.Equal(t, c.status, w.Code, c.path)
		require.Equal(t, c.says, w.Body.String())
	}
}
