package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestCORS(t *testing.T) {
	ask := func(s *apitest.Site, method, origin string) http.Header {
		return s.Request(method, "/api/v1/agents", "one", "", "Origin", origin).Header
	}
	s := apitest.New(t)
	require.Equal(t, "*", ask(s, "GET", "https://any.org").Get("Access-Control-Allow-Origin"))
	s = apitest.New(t, func(c *apitest.Config) { c.Origins = []string{"https://good.org"} })
	h := ask(s, "OPTIONS", "https://good.org")
	require.Equal(t, "https://good.org", h.Get("Access-Control-Allow-Origin"))
	require.Contains(t, h.Get("Access-Control-Allow-Headers"), "Authorization")
	require.Equal(t, "Origin", h.Get("Vary"))
	for _, origin := range []string{"https://bad.org", "https://good.org.bad.org", "http://good.org", "null", ""} {
		h := ask(s, "GET", origin)
		require.Empty(t, h.Get("Access-Control-Allow-Origin"), origin)
		require.Empty(t, h.Get("Access-Control-Allow-Credentials"), origin)
	}
	s = apitest.New(t, func(c *apitest.Config) { c.Origins = []string{"none"} })
	require.Empty(t, ask(s, "GET", "https://good.org").Get("Access-Control-Allow-Origin"))
	require.NoError(t, api.CheckOrigins([]string{"*", "none", "https://a.org", "http://localhost:5173"}))
	for _, bad := range []string{"", "a.org", "https://a.org/", "ftp://a.org", "https://", "https://a.org/x"} {
		require.Error(t, api.CheckOrigins([]string{bad}), bad)
	}
}
