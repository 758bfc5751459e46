package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
)

// What is tried without a run, a node, a tool or a database, has the limits of the key: one that is
// limited to a project uses nothing of another one, and what is in its own.
func TestLimitedKeysTryNothingOfOtherProjects(t *testing.T) {
	c := newCrew(t)
	zoo := c.made("key", "POST", "/api/v2/projects", `{"name":"Zoo"}`)
	c.member("bob", zoo, "editor")
	_, _, err := c.h.store.Keys.Create(c.Context(), store.Key{
		Tenant: firstTenantID, User: c.users["bob"], Name: "k", Project: &zoo,
		Scopes: []string{app.ScopeRead, app.ScopeRun, app.ScopeEdit},
	}, "limited")
	require.NoError(t, err)
	c.send("key", "PUT", "/api/v2/secrets/PASS", `{"value":"`+zebra+`"}`)
	id := c.made("limited", "POST", "/api/v2/canvases",
		`{"title":"c","permission":"team","project":"`+zoo+`","dsl":`+secretSender(t)+`}`)

	debug := func(key string) string {
		return c.send(key, "POST", "/api/v2/canvases/"+id+"/debug", `{"node":"Invoke:R"}`)
	}
	tables := func(key string) string {
		return c.send(key, "POST", "/api/v2/databases/tables", `{"params":{"db_type":"postgres","database":"x",
			"username":"x","host":"127.0.0.1","port":1,"password":"{{secret:PASS}}"}}`)
	}
	call := func(key string) string {
		return c.send(key, "POST", "/api/v2/tools/TavilySearch/call",
			`{"params":{"api_key":"{{secret:PASS}}"},"arguments":{"query":"x"}}`)
	}
	const unknown = `secret \"PASS\"`
	require.Contains(t, debug("bob"), quagga)
	require.NotContains(t, debug("limited"), quagga)
	require.NotContains(t, tables("bob"), unknown)
	require.Contains(t, tables("limited"), unknown)
	require.Contains(t, call("limited"), unknown)
	moved := `{"value":"` + zebra + `","project":"` + zoo + `"}`
	require.NotContains(t, c.send("key", "PUT", "/api/v2/secrets/PASS", moved), "error")
	require.Contains(t, debug("limited"), quagga)
	require.NotContains(t, tables("limited"), unknown, "of its own project")
}
