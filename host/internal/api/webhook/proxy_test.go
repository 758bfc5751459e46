package webhook_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// The limit of failed logins and the address list of a webhook use the client's address from a
// trusted proxy, and ignore the headers of others.
func TestTrustedProxy(t *testing.T) {
	from := func(address string) []string { return []string{"X-Forwarded-For", "10.1.1.1, " + address} }
	login := func(s *apitest.Site, email, address string) int {
		return s.Request("POST", "/v1/user/login", "", `{"email":"`+email+`","password":"wrong"}`, from(address)...).Status
	}
	exhaust := func(s *apitest.Site) {
		for n := 0; login(s, "a@example.org", "203.0.113.1") != http.StatusTooManyRequests; n++ {
			require.Less(s.T, n, 100)
		}
	}
	loopback, err := api.ParseProxies([]string{"127.0.0.0/8", "::1"})
	require.NoError(t, err)
	hooked := apitest.Hook(`"security":{"ip_whitelist":["203.0.113.9"],"auth_type":"none","allow_anonymous":true}`)

	s := apitest.New(t, apitest.Frozen, func(c *apitest.Config) { c.TrustedProxies = loopback })
	exhaust(s)
	require.NotEqual(t, http.StatusTooManyRequests, login(s, "b@example.org", "203.0.113.2"), "another client passes")
	path := "/api/v1/webhook/" + s.Canvas("hook", hooked)
	require.Equal(t, 200, s.Request("POST", path, "", `{}`, from("203.0.113.9")...).Status)
	require.Contains(t, s.Request("POST", path, "", `{}`, from("203.0.113.1")...).Message(), "IP 203.0.113.1 is not allowed")
	require.Equal(t, 400, s.Request("POST", path, "", `{}`, "X-Forwarded-For", "203.0.113.9, 203.0.113.1").Status, "forged")

	s = apitest.New(t, apitest.Frozen)
	exhaust(s)
	require.Equal(t, http.StatusTooManyRequests, login(s, "b@example.org", "203.0.113.2"), "all are the one who connects")
	path = "/api/v1/webhook/" + s.Canvas("hook", hooked)
	require.Equal(t, 400, s.Request("POST", path, "", `{}`, from("203.0.113.9")...).Status)
}
