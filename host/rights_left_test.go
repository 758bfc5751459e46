package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// What a member kept private does not go on running when the member is removed: no member could see
// it, or end it.
func TestRemovedMembersRunNothing(t *testing.T) {
	c := newCrew(t)
	id := c.canvas("ann", searching(`"kb_ids":["shared"]`), false)
	token, err := c.h.store.Betas.For(c.Context(), firstTenantID, id)
	require.NoError(t, err)
	schedule := c.made("ann", "POST", "/api/v2/schedules", `{"canvas":"`+id+`","every":"24h","query":"x"}`)
	c.send("key", "DELETE", "/api/v2/users/"+c.users["ann"], "")
	if _, err := c.h.schedules.Get(c.Context(), firstTenantID, schedule); err == nil {
		require.Contains(t, c.send("key", "GET", "/api/v2/schedules", ""), schedule, "an owner can end it")
		return
	}
	said := c.send(token.Text, "POST", "/api/v1/agentbots/"+id+"/completions", `{"query":"x","stream":false}`)
	require.NotContains(t, said, quagga, "by its embed token")
	require.NotContains(t, c.send("", "POST", "/api/v1/webhook/"+id, `{}`), quagga, "by its webhook")
}

// A run that continues without its member has what the member may use then: nothing for one who has
// left, and for a key that is limited or revoked what the key may use.
func TestRunsGoOnWithTheRightsOfNow(t *testing.T) {
	c := newCrew(t)
	may := func(key string) bool {
		t.Helper()
		v, err := (&ports{store: c.h.store}).rightsOf(&runs.Job{
			Tenant: firstTenantID, Actor: access.Actor{User: c.users["bob"], As: access.Present},
			Principal: runs.Principal{Kind: runs.ByHost, ID: key},
		}).viewer(c.Context())
		require.NoError(t, err)
		ds, err := c.h.store.Datasets.Get(c.Context(), firstTenantID, c.shared)
		require.NoError(t, err)
		return v.May(ds.Access())
	}
	require.True(t, may(""))
	project := c.made("key", "POST", "/api/v2/projects", `{"name":"Zoo"}`)
	c.member("bob", project, "editor")
	limited, _, err := c.h.store.Keys.Create(c.Context(), store.Key{
		Tenant: firstTenantID, User: c.users["bob"], Name: "k", Scopes: []string{app.ScopeRun}, Project: &project,
	}, "")
	require.NoError(t, err)
	require.False(t, may(limited.ID))
	require.False(t, may("revoked"))
	c.send("key", "DELETE", "/api/v2/users/"+c.users["bob"], "")
	require.False(t, may(""), "of a member who has left")
}
