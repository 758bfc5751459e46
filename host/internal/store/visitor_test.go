package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A list of a user has what members and signed visitors of this id own, and not what a visitor owns
// who only claims to be this user.
func TestListsOfAUserLeaveOutClaims(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		ann := VisitorOfUser("c", "ann")
		owners := map[string]Visitor{"member": "", "signed": ann, "claims": VisitorOfSession("claims")}
		m, err := s.Memories.Create(ctx, Memory{Tenant: "t", Name: "m"})
		require.NoError(t, err)
		for id, visitor := range owners {
			_, err := s.Sessions.Create(ctx, Session{ID: id, Tenant: "t", Canvas: "c", User: "ann", Visitor: visitor})
			require.NoError(t, err)
			list := []MemoryMessage{{Kind: "raw", User: "ann", Session: id, Visitor: visitor}}
			require.NoError(t, s.Memories.Add(ctx, "t", m.ID, 1<<20, list))
		}
		sessions := func(f SessionFilter) []string {
			f.Tenant, f.Canvas = "t", "c"
			list, total, err := s.Sessions.List(ctx, f, Page{Order: "id", Asc: true})
			require.NoError(t, err)
			require.Len(t, list, total)
			var ids []string
			for _, v := range list {
				require.Equal(t, owners[v.ID], v.Visitor)
				ids = append(ids, v.ID)
			}
			return ids
		}
		messages := func(f MemoryFilter) []string {
			f.Memories = []string{m.ID}
			list, _, err := s.Memories.Messages(ctx, "t", f, Page{})
			require.NoError(t, err)
			var ids []string
			for _, v := range list {
				require.Equal(t, owners[v.Session], v.Visitor)
				ids = append(ids, v.Session)
			}
			return ids
		}
		for _, tt := range []struct {
			user    string
			visitor Visitor
			want    []string
		}{
			{"", "", []string{"claims", "member", "signed"}},
			{"ann", "", []string{"member", "signed"}},
			{"", ann, []string{"signed"}},
			{"ann", ann, []string{"signed"}},
			{"ann", VisitorOfSession("claims"), []string{"claims"}},
			{"", VisitorOfSession("another"), nil},
			{"", VisitorOfUser("d", "ann"), nil},
		} {
			require.Equal(t, tt.want, sessions(SessionFilter{User: tt.user, Visitor: tt.visitor}))
			require.ElementsMatch(t, tt.want, messages(MemoryFilter{User: tt.user, Visitor: tt.visitor}))
		}
	})
}

// The signing secret of a token is made once, shown again, replaced, and ends with the token.
func TestSigningSecret(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		c, err := s.Canvases.Create(ctx, Canvas{Tenant: "t", Title: "c"}, "")
		require.NoError(t, err)
		token, err := s.Betas.For(ctx, "t", c.ID)
		require.NoError(t, err)
		none, err := s.Betas.ReadSecret(ctx, "t", token.ID)
		require.NoError(t, err)
		require.Empty(t, none)
		made, err := s.Betas.Secret(ctx, "t", token.ID)
		require.NoError(t, err)
		require.Len(t, made, 43)
		for range 2 {
			again, err := s.Betas.Secret(ctx, "t", token.ID)
			require.NoError(t, err)
			require.Equal(t, made, again)
		}
		replaced, err := s.Betas.ReplaceSecret(ctx, "t", token.ID)
		require.NoError(t, err)
		require.NotEqual(t, made, replaced)
		read, err := s.Betas.ReadSecret(ctx, "t", token.ID)
		require.NoError(t, err)
		require.Equal(t, replaced, read)
		_, err = s.Betas.Secret(ctx, "other", token.ID)
		require.ErrorIs(t, err, ErrNotFound)
		_, err = s.Betas.ReadSecret(ctx, "other", token.ID)
		require.ErrorIs(t, err, ErrNotFound)

		require.NoError(t, s.Betas.Delete(ctx, "t", c.ID))
		_, err = s.Betas.ReadSecret(ctx, "t", token.ID)
		require.ErrorIs(t, err, ErrNotFound)
	})
}
