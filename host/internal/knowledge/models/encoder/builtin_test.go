package encoder

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWeightsAreReleasedWhenIdle(t *testing.T) {
	e := New(sample())
	synctest.Test(t, func(t *testing.T) {
		loads := 0
		b := &Builtin{load: func() (*Encoder, error) { loads++; return e, nil }}
		embed := func() {
			_, err := b.Embed(t.Context(), []string{"a"})
			require.NoError(t, err)
		}
		held := func() bool {
			b.mutex.Lock()
			defer b.mutex.Unlock()
			return b.encoder != nil
		}
		embed()
		time.Sleep(idle - time.Second)
		embed()
		time.Sleep(idle - time.Second)
		require.True(t, held(), "a use starts the time again")
		require.Equal(t, 1, loads)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.False(t, held())
		embed()
		require.Equal(t, 2, loads)
	})
}
