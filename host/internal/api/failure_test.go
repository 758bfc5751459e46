package api

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/broker"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

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
		{runs.ErrClosed, 503, "it is stopping"},
		{runlog.ErrStopping, 503, "it is stopping"},
		{store.ErrFull, 507, "cannot store anything now: disk is full"},
		{broker.ErrFull, 507, "cannot store anything now: storage of the run log is full"},
		{store.ErrReadOnly, 507, "cannot store anything now: database is read-only"},
		{broker.ErrReadOnly, 507, "cannot store anything now: disk of the run log is read-only"},
	} {
		for dialect, r := range map[string]*route{"dialects": {}, "v2": {doc: &v2Doc{}}, "openai": {llm: true}} {
			w := httptest.NewRecorder()
			call := &call{a: &API{cfg: Config{Logger: quiet}}, w: w, r: httptest.NewRequestWithContext(t.Context(), "POST", "/", nil), route: r}
			call.refuse(fmt.Errorf("start run: %w (secret detail)", c.err))
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
	for name, r := range map[string]*route{"v2": {doc: &v2Doc{}}, "openai": {llm: true}, "agents": {openAI: true}, "dialects": {}} {
		w := httptest.NewRecorder()
		call := &call{a: &API{cfg: Config{Logger: quiet}}, w: w, r: httptest.NewRequestWithContext(t.Context(), "POST", "/", nil), route: r, asOpenAI: r.openAI}
		call.refuse(fmt.Errorf("claim: %w", runlog.ErrActive))
		want := http.StatusInternalServerError
		if name == "dialects" {
			want = http.StatusOK // their code says it
		}
		require.Equal(t, want, w.Code, name)
	}
}

// What failed inside the host stands in its log, and the answer says under which request.
func TestUnforeseenErrorsAreOnlyLogged(t *testing.T) {
	const detail = `open /srv/data/easel.db: dial tcp 10.0.0.7:5432: relation "secrets"`
	for name, r := range map[string]*route{
		"v2": {doc: &v2Doc{}}, "openai": {llm: true}, "agents": {openAI: true}, "dialects": {},
	} {
		var lines bytes.Buffer
		log := slog.New(slog.NewTextHandler(&lines, nil))
		w, req := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
		call := &call{a: &API{cfg: Config{Logger: log}}, w: w, r: req, route: r, asOpenAI: r.openAI}
		call.refuse(errors.New(detail))
		for _, word := range []string{"easel.db", "10.0.0.7", "secrets"} {
			require.NotContains(t, w.Body.String(), word, name)
			require.Contains(t, lines.String(), word, name)
		}
		_, id, ok := strings.Cut(w.Body.String(), "under request ")
		require.True(t, ok, w.Body.String())
		id, _, _ = strings.Cut(id, `"`)
		require.Contains(t, lines.String(), "request="+id, name)
	}
}

// Errors that callers can act on are sent as they are.
func TestPublicErrors(t *testing.T) {
	for _, public := range publicErrors {
		f, internal := asFailure(fmt.Errorf("canvas %q: %w", "faq", public))
		require.False(t, internal)
		require.Equal(t, `canvas "faq": `+public.Error(), f.message)
	}
}
