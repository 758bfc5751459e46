package host

import (
	"testing"

	"github.com/stretchr/testify/require"
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
