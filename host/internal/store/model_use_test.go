package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestModelUse(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx, uses := t.Context(), s.Uses
		require.NoError(t, uses.Add(ctx, []ModelUse{
			{"a", 7, "c1", "m@P", 1, 100, 10, 5000},
			{"a", 7, "c2", "m@P", 1, 1, 1, 0},
			{"a", 8, "c1", "n@P", 2, 30, 3, 9000},
			{"b", 7, "c1", "m@P", 1, 7, 7, 7},
		}))
		require.NoError(t, uses.Add(ctx, []ModelUse{{"a", 7, "c1", "m@P", 1, 100, 10, 5000}}))
		read := func(by UseGroup, from, to int64) []ModelUse {
			rows, err := uses.List(ctx, "a", from, to, by)
			require.NoError(t, err)
			return rows
		}
		require.Equal(t, []ModelUse{
			{Tenant: "a", Day: 7, Calls: 3, Input: 201, Output: 21, Cost: 10000},
			{Tenant: "a", Day: 8, Calls: 2, Input: 30, Output: 3, Cost: 9000},
		}, read(UseByDay, 0, 100))
		require.Equal(t, []ModelUse{
			{Tenant: "a", Canvas: "c1", Calls: 4, Input: 230, Output: 23, Cost: 19000},
			{Tenant: "a", Canvas: "c2", Calls: 1, Input: 1, Output: 1},
		}, read(UseByCanvas, 0, 100))
		require.Equal(t, []ModelUse{{Tenant: "a", Model: "n@P", Calls: 2, Input: 30, Output: 3, Cost: 9000}},
			read(UseByModel, 8, 8))

		require.NoError(t, uses.Add(ctx, []ModelUse{{Tenant: "a", Day: 9, Input: MostTokens}}))
		require.NoError(t, uses.Add(ctx, []ModelUse{{Tenant: "a", Day: 9, Input: MostTokens}}))
		require.EqualValues(t, MostTokens, read(UseByDay, 9, 9)[0].Input)

		require.NoError(t, uses.Forget(ctx, 8))
		require.Len(t, read(UseByDay, 0, 8), 1)
		_, err := uses.List(ctx, "a", 0, 1, "1; DROP TABLE runs")
		require.ErrorIs(t, err, ErrInvalid)
	})
}

func TestCanvasTitles(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		mine, err := s.Canvases.Create(ctx, Canvas{Tenant: "a", User: "u", Title: "Mine", DSL: []byte("{}")}, "")
		require.NoError(t, err)
		gone := Canvas{Tenant: "a", User: "u", Title: "Gone", Permission: PermissionTeam}
		gone, err = s.Canvases.Create(ctx, gone, "")
		require.NoError(t, err)
		require.NoError(t, s.Canvases.Delete(ctx, "a", gone.ID))
		other, err := s.Canvases.Create(ctx, Canvas{Tenant: "b", Title: "Theirs", DSL: []byte("{}")}, "")
		require.NoError(t, err)
		titles, err := s.Uses.Titles(ctx, "a", []string{mine.ID, gone.ID, other.ID, "none"})
		require.NoError(t, err)
		require.Equal(t, map[string]Titled{
			mine.ID: {"Mine", mine.Access()},
			gone.ID: {"", gone.Access()},
		}, titles)
	})
}
