package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
)

// The first owner of a tenant has the id of the tenant. What it published ends with it; a tenant
// without members, whose keys have that id, keeps what these published.
func TestPublisherWithTheIDOfTheTenant(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		shared := access.Object{Tenant: "t", Kind: access.Canvas, ID: "c", Team: true}
		may := func() bool {
			v, err := s.Projects.Acting(ctx, "t", access.Actor{User: "t", As: access.Publisher}, "")
			require.NoError(t, err)
			return v.May(shared)
		}
		require.True(t, may(), "no one is a member")
		_, err := s.Users.CreateMember(ctx, Member{Tenant: "t", Role: roleOwner}, User{ID: "ann", Email: "a@x"}, "")
		require.NoError(t, err)
		require.False(t, may(), "another one is")
		_, _, err = s.Keys.Create(ctx, Key{Tenant: "t", User: "t", Name: "k"}, "")
		require.NoError(t, err)
		require.True(t, may(), "its key is still used")
	})
}
