package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Groups go with the member, and an API key has those of its user at its next request.
func TestGroupsOfUsers(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		require.ErrorIs(t, s.Groups.Set(ctx, "t", "ann", "", access.GroupsOf("hr")), ErrNotFound)
		require.NoError(t, s.Members.Put(ctx, Member{Tenant: "t", User: "ann", Role: "normal"}))
		_, key, err := s.Keys.Create(ctx, Key{Tenant: "t", User: "ann"}, "")
		require.NoError(t, err)
		has := func(names ...string) {
			t.Helper()
			groups, err := s.Groups.Of(ctx, "t", "ann")
			require.NoError(t, err)
			require.Equal(t, access.GroupsOf(names...), groups)
			k, err := s.Keys.ByText(ctx, key)
			require.NoError(t, err)
			require.Equal(t, groups, k.Groups)
		}
		has()
		require.NoError(t, s.Groups.Set(ctx, "t", "ann", "", access.GroupsOf("hr", "board")))
		has("board", "hr")
		require.NoError(t, s.Groups.Set(ctx, "t", "ann", "corp", access.GroupsOf("hr", "staff")))
		has("board", "hr", "staff")
		require.NoError(t, s.Groups.Set(ctx, "t", "ann", "", ""))
		has("hr", "staff")
		names, err := s.Groups.Names(ctx, "t")
		require.NoError(t, err)
		require.Equal(t, []string{"hr", "staff"}, names)
		other, err := s.Groups.Of(ctx, "u", "ann")
		require.NoError(t, err)
		require.Empty(t, other)
		_, err = s.Items.Put(ctx, Item{Tenant: "t", Kind: "oidc", ID: "corp", Doc: []byte("{}")})
		require.NoError(t, err)
		require.NoError(t, s.Identities.DeleteProvider(ctx, "t", "oidc", "corp"))
		has()
		require.NoError(t, s.Groups.Set(ctx, "t", "ann", "", access.GroupsOf("hr")))
		require.NoError(t, s.Members.Delete(ctx, "t", "ann"))
		require.NoError(t, s.Members.Put(ctx, Member{Tenant: "t", User: "ann", Role: "normal"}))
		groups, err := s.Groups.Of(ctx, "t", "ann")
		require.NoError(t, err)
		require.Empty(t, groups)
	})
}
