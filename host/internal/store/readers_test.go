package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Lists of readers end with the run and the session that they are of, and with nothing else.
func TestReadersEndWithRunsAndSessions(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		hr, err := access.ListOf("group:hr")
		require.NoError(t, err)
		lists := []access.List{hr}
		_, err = s.Sessions.Create(ctx, Session{ID: "s", Tenant: "t", Canvas: "c"})
		require.NoError(t, err)
		for _, id := range []string{"ended", "active"} {
			require.NoError(t, s.Runs.Start(ctx, Run{ID: id, Tenant: "t", Canvas: "c"}))
			require.NoError(t, s.Readers.Add(ctx, "t", id, "s", lists))
		}
		_, err = s.Runs.End(ctx, RunEnd{ID: "ended", Status: RunDone}, nil)
		require.NoError(t, err)
		of := func(object string) []access.List {
			found, err := s.Readers.Of(ctx, "t", object)
			require.NoError(t, err)
			return found[object]
		}
		n, err := s.Runs.Forget(ctx, s.ms()+1, 10)
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
		require.Empty(t, of("ended"))
		require.Equal(t, lists, of("active"))
		require.Equal(t, lists, of("s"))
		require.NoError(t, s.Sessions.Delete(ctx, "t", "s"))
		require.Empty(t, of("s"))
		require.Equal(t, lists, of("active"))
	})
}
