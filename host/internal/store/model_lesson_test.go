package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestModelLessons(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx, lessons := t.Context(), s.Lessons
		later := time.Now().Add(time.Hour).UnixMilli()
		put := func(tenant, address, model, doc string, until int64) {
			t.Helper()
			require.NoError(t, lessons.Put(ctx, ModelLesson{tenant, address, model, []byte(doc), until}))
		}
		put("", "http://h/v1", "m", `{"a":1}`, later)
		put("t", "http://h/v1", "m", `{"b":1}`, later)
		put("t", "http://h/v1", "n", `{"b":2}`, later)
		put("t", "http://g", "m", `{"b":3}`, later)
		put("t", "http://h/v1", "old", `{}`, time.Now().Add(-time.Second).UnixMilli())

		_, ok, err := lessons.Get(ctx, "t", "http://h/v1", "old")
		require.NoError(t, err)
		require.False(t, ok, "forgotten")
		put("t", "http://h/v1", "m", `{"b":4}`, later)
		got, ok, err := lessons.Get(ctx, "t", "http://h/v1", "m")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, ModelLesson{"t", "http://h/v1", "m", []byte(`{"b":4}`), later}, got)

		list := func(tenant string) (names []string) {
			rows, err := lessons.List(ctx, tenant)
			require.NoError(t, err)
			for _, r := range rows {
				names = append(names, r.Address+" "+r.Model)
			}
			return names
		}
		require.Equal(t, []string{"http://g m", "http://h/v1 m", "http://h/v1 n"}, list("t"))
		require.Equal(t, []string{"http://h/v1 m"}, list(""))
		require.NoError(t, lessons.Delete(ctx, "t", "http://h/v1", "n"))
		require.Equal(t, []string{"http://g m", "http://h/v1 m"}, list("t"))
		require.NoError(t, lessons.Delete(ctx, "t", "http://h/v1", ""))
		require.Equal(t, []string{"http://g m"}, list("t"))
		require.Equal(t, []string{"http://h/v1 m"}, list(""), "of the host")
	})
}
