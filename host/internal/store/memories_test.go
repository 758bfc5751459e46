package store

import (
	"bytes"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func contents(list []MemoryMessage) string {
	var out []string
	for _, m := range list {
		out = append(out, m.Content)
	}
	return strings.Join(out, " ")
}

func TestMemoriesAreOfTheirTenant(t *testing.T) {
	onBoth(t, func(t *testing.T, store *Store) {
		ctx, s := t.Context(), store.Memories
		m, err := s.Create(ctx, Memory{Tenant: "t", User: "u", Name: "Notes", Settings: []byte("{}")})
		require.NoError(t, err)
		_, err = s.Create(ctx, Memory{ID: m.ID, Tenant: "t", Name: "other"})
		require.ErrorIs(t, err, ErrExists)
		_, err = s.Create(ctx, Memory{Tenant: "other", Name: "Notes"})
		require.NoError(t, err)
		_, err = s.Get(ctx, "other", m.ID)
		require.ErrorIs(t, err, ErrNotFound)
		require.ErrorIs(t, s.Add(ctx, "other", m.ID, 100, []MemoryMessage{{Content: "x"}}), ErrNotFound)
		require.NoError(t, s.Add(ctx, "t", m.ID, 100, []MemoryMessage{{Content: "x"}}))
		require.ErrorIs(t, s.Forget(ctx, "other", m.ID, 1), ErrNotFound)
		list, total, err := s.Messages(ctx, "other", MemoryFilter{Memories: []string{m.ID}}, Page{})
		require.NoError(t, err)
		require.Empty(t, list)
		require.Zero(t, total)
		require.ErrorIs(t, s.Delete(ctx, "other", m.ID), ErrNotFound)

		m.Name = "Papers"
		next, err := s.Update(ctx, m)
		require.NoError(t, err)
		require.Equal(t, "Papers", next.Name)
		_, err = s.Update(ctx, m)
		require.ErrorIs(t, err, ErrConflict)
		require.NoError(t, s.Delete(ctx, "t", m.ID))
		_, total, err = s.Messages(ctx, "t", MemoryFilter{}, Page{})
		require.NoError(t, err)
		require.Zero(t, total)
	})
}

func TestMemoryMessages(t *testing.T) {
	onBoth(t, func(t *testing.T, store *Store) {
		ctx, s := t.Context(), store.Memories
		m, err := s.Create(ctx, Memory{Tenant: "t", Name: "m"})
		require.NoError(t, err)
		first := []MemoryMessage{
			{Kind: "raw", Content: "a", Agent: "x", Session: "s1", Vector: []float32{1, -0.5}, Model: "e", ValidAt: 1},
			{Kind: "semantic", Content: "b", Agent: "x", Source: -1, ValidAt: 2, Disabled: true},
		}
		require.NoError(t, s.Add(ctx, "t", m.ID, 1000, first))
		require.NoError(
			t,
			s.Add(ctx, "t", m.ID, 1000, []MemoryMessage{{Kind: "raw", Content: "c", ValidAt: 3, Session: "other%"}}),
		)
		find := func(f MemoryFilter) string {
			list, total, err := s.Messages(ctx, "t", f, Page{})
			require.NoError(t, err)
			require.Len(t, list, total)
			return contents(list)
		}
		require.Equal(t, "c b a", find(MemoryFilter{Memories: []string{m.ID}}))
		require.Equal(t, "b", find(MemoryFilter{Sources: &[2]int64{1, 1}}))
		require.Equal(t, "b a", find(MemoryFilter{Agents: []string{"x", "y"}}))
		require.Equal(t, "c", find(MemoryFilter{Sessions: "r%"}))
		require.Equal(t, "c a", find(MemoryFilter{Enabled: true}))
		require.NoError(t, s.Forget(ctx, "t", m.ID, 3))
		require.NoError(t, s.Enable(ctx, "t", m.ID, 2, true))
		require.Equal(t, "b a", find(MemoryFilter{Live: true, Enabled: true}))
		require.ErrorIs(t, s.Forget(ctx, "t", m.ID, 9), ErrNotFound)
		page, total, err := s.Messages(ctx, "t", MemoryFilter{}, Page{Offset: 2, Limit: 1})
		require.NoError(t, err)
		require.Equal(t, 3, total)
		require.Equal(t, first[0], page[0], "the vector comes back")
		m, err = s.Get(ctx, "t", m.ID)
		require.NoError(t, err)
		require.EqualValues(t, 3+8, m.Size)
	})
}

func TestFullMemoryDropsForgottenThenOldestMessages(t *testing.T) {
	onBoth(t, func(t *testing.T, store *Store) {
		ctx, s := t.Context(), store.Memories
		m, err := s.Create(ctx, Memory{Tenant: "t", Name: "m"})
		require.NoError(t, err)
		add := func(text string, at int64) error {
			return s.Add(ctx, "t", m.ID, 10, []MemoryMessage{{Content: text, ValidAt: at}})
		}
		for i, text := range []string{"aaa", "bbb", "ccc"} {
			require.NoError(t, add(text, int64(i)))
		}
		require.NoError(t, s.Forget(ctx, "t", m.ID, 3))
		require.NoError(t, add("dddd", 9))
		list, _, err := s.Messages(ctx, "t", MemoryFilter{}, Page{})
		require.NoError(t, err)
		require.Equal(t, "dddd bbb aaa", contents(list))
		require.NoError(t, add("eee", 10))
		list, _, err = s.Messages(ctx, "t", MemoryFilter{}, Page{})
		require.NoError(t, err)
		require.Equal(t, "eee dddd bbb", contents(list))
		require.ErrorIs(t, add(strings.Repeat("x", 11), 11), ErrMemoryFull)
		v, err := s.Get(ctx, "t", m.ID)
		require.NoError(t, err)
		require.EqualValues(t, 10, v.Size)
	})
}

func TestMemoryMessagesAddedAtOnceHaveIDsOfTheirOwn(t *testing.T) {
	onBoth(t, func(t *testing.T, store *Store) {
		ctx, s := t.Context(), store.Memories
		m, err := s.Create(ctx, Memory{Tenant: "t", Name: "m"})
		require.NoError(t, err)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := s.Add(ctx, "t", m.ID, 1000, []MemoryMessage{{Content: "a"}, {Content: "b"}}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		_, total, err := s.Messages(ctx, "t", MemoryFilter{}, Page{})
		require.NoError(t, err)
		require.Equal(t, 40, total)
		v, err := s.Get(ctx, "t", m.ID)
		require.NoError(t, err)
		require.EqualValues(t, 40, v.Size)
	})
}

func TestMemoriesMoveWithADump(t *testing.T) {
	for _, way := range [][2]string{{"sqlite", "postgres"}, {"postgres", "sqlite"}} {
		t.Run(way[0]+" to "+way[1], func(t *testing.T) {
			ctx := t.Context()
			fromCfg := engineConfig(t, way[0])
			from := openTest(t, fromCfg)
			m, err := from.Memories.Create(ctx, Memory{Tenant: "t", Name: "m", Settings: []byte(`{"a":1}`)})
			require.NoError(t, err)
			sent := []MemoryMessage{
				{Kind: "raw", Content: "a", Vector: []float32{1}, ValidAt: 1}, {Content: "empty vector"},
			}
			require.NoError(t, from.Memories.Add(ctx, "t", m.ID, 1000, sent))
			var dump bytes.Buffer
			require.NoError(t, from.Dump(ctx, &dump))
			require.NoError(t, CheckDump(ctx, bytes.NewReader(dump.Bytes())))
			toCfg := engineConfig(t, way[1])
			toCfg.KeyFile = filepath.Join(fromCfg.Dir, "secret.key")
			to := openTest(t, toCfg)
			require.NoError(t, to.Load(ctx, &dump))
			list, _, err := to.Memories.Messages(ctx, "t", MemoryFilter{Memories: []string{m.ID}}, Page{})
			require.NoError(t, err)
			require.ElementsMatch(t, sent, list)
			require.NoError(t, to.Memories.Add(ctx, "t", m.ID, 1000, []MemoryMessage{{Content: "next"}}))
		})
	}
}
