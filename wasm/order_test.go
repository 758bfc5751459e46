package main

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestNoteOrderWaitsForEarlierNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o noteOrder
		require.NoError(t, o.wait(t.Context(), 0))
		var over atomic.Int64
		for n := uint64(1); n <= 3; n++ {
			go func() {
				if o.wait(t.Context(), n) == nil {
					over.Add(1)
				}
			}()
		}
		synctest.Wait()
		require.EqualValues(t, 0, over.Load())
		o.passed(2)
		synctest.Wait()
		require.EqualValues(t, 2, over.Load())
		o.passed(3)
		synctest.Wait()
		require.EqualValues(t, 3, over.Load())
	})
}

func TestNoteOrderEndsWithItsContext(t *testing.T) {
	var o noteOrder
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, o.wait(ctx, 1), context.Canceled)
}
