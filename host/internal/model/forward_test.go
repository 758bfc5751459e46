package model

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// forwards returns models with one provider, served by handler.
func forwards(t *testing.T, handler http.HandlerFunc) (*Models, *provider) {
	t.Helper()
	p, _ := serve(t, handler)
	return &Models{config: Config{Providers: []Provider{p.config}}, providers: []*provider{p}}, p
}

func TestForward(t *testing.T) {
	var sent string
	m, _ := forwards(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = r.URL.Path + " " + r.Header.Get("Authorization") + " " + string(body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, saved(t, "text.sse"))
	})
	ask, err := engine.ParseJSONText(
		`{"model":"m@Test","seed":1.0,"response_format":{"type":"json_object"},"stream":true}`)
	require.NoError(t, err)
	res, err := m.Forward(t.Context(), ask)
	require.NoError(t, err)
	got, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, saved(t, "text.sse"), string(got))
	require.Equal(t,
		`/v1/chat/completions Bearer secret-key `+
			`{"model":"m","seed":1.0,"response_format":{"type":"json_object"},"stream":true}`, sent,
		"only the name changes")
	_, err = m.Forward(t.Context(), engine.Object("model", "m@Missing"))
	require.ErrorIs(t, err, ErrUnknownModel)
}

func TestForwardFailures(t *testing.T) {
	t.Run("error response is passed on without the key", func(t *testing.T) {
		m, _ := forwards(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"bad key secret-key"}}`)
		})
		res, err := m.Forward(t.Context(), engine.Object("model", "m"))
		require.NoError(t, err)
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, 401, res.StatusCode)
		require.Equal(t, `{"error":{"message":"bad key ***"}}`, string(text))
	})
	hang := func(before string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if before != "" {
				_, _ = io.WriteString(w, before)
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		}
	}
	t.Run("silence before the response", func(t *testing.T) {
		m, p := forwards(t, hang(""))
		p.timeout = 100 * time.Millisecond
		_, err := m.Forward(t.Context(), engine.Object("model", "m"))
		require.ErrorIs(t, err, ErrSilent)
	})
	t.Run("silence during the response", func(t *testing.T) {
		m, p := forwards(t, hang("data: 1\n\n"))
		patiently(t, p, func() bool {
			res, err := m.Forward(t.Context(), engine.Object("model", "m"))
			if errors.Is(err, ErrSilent) {
				return false
			}
			require.NoError(t, err)
			text, err := io.ReadAll(res.Body)
			require.ErrorIs(t, err, ErrSilent)
			require.NoError(t, res.Body.Close())
			return string(text) == "data: 1\n\n"
		})
	})
	t.Run("caller cancels", func(t *testing.T) {
		m, _ := forwards(t, hang("data: 1\n\n"))
		ctx, cancel := context.WithCancel(t.Context())
		res, err := m.Forward(ctx, engine.Object("model", "m"))
		require.NoError(t, err)
		cancel()
		_, err = io.ReadAll(res.Body)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, res.Body.Close())
	})
	t.Run("connection refused", func(t *testing.T) {
		m, p := forwards(t, nil)
		p.config.BaseURL = "http://127.0.0.1:1/v1"
		_, err := m.Forward(t.Context(), engine.Object("model", "m"))
		require.ErrorContains(t, err, `model "m" of Test`)
	})
}
