package quota

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

type faultyUses struct {
	store.ModelUses
	fails bool
}

func (f *faultyUses) Add(ctx context.Context, uses []store.ModelUse) error {
	if f.fails {
		return errUnavailable
	}
	return f.ModelUses.Add(ctx, uses)
}

func TestUsesAreWritten(t *testing.T) {
	ctx := t.Context()
	s := runstest.Records(t, store.Config{})
	uses := &faultyUses{ModelUses: s.Uses}
	c := newClock("2026-11-21T12:00:00Z")
	m := newMeter(t, Config{Store: s.Tokens, Uses: uses, Now: c.now})
	call := Use{Tenant: "t", Canvas: "c", Model: "m@P", Input: 100, Output: 10, Cost: 7}
	m.writing.Lock() // the meter writes by itself, too
	uses.fails = true
	m.Record(call)
	require.ErrorIs(t, m.flushUses(), errUnavailable)
	m.Record(call)
	uses.fails = false
	m.writing.Unlock()
	require.NoError(t, m.Flush())
	c.advance(24 * time.Hour)
	m.Record(call)
	require.NoError(t, m.Flush())
	require.NoError(t, m.Flush(), "nothing is written twice")

	day := m.Today()
	rows, err := uses.List(ctx, "t", 0, day, store.UseByDay)
	require.NoError(t, err)
	require.Equal(t, []store.ModelUse{
		{Tenant: "t", Day: day - 1, Calls: 2, Input: 200, Output: 20, Cost: 14},
		{Tenant: "t", Day: day, Calls: 1, Input: 100, Output: 10, Cost: 7},
	}, rows)

	c.advance((useDays + 1) * 24 * time.Hour)
	require.Equal(t, m.Today(), m.tidy(0))
	rows, err = uses.List(ctx, "t", 0, day, store.UseByDay)
	require.NoError(t, err)
	require.Empty(t, rows, "old usage is removed")
}
