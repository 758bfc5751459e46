package runner

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSyncSettings(t *testing.T) {
	for _, c := range []struct {
		cfg    Config
		always bool
		every  time.Duration
	}{
		{Config{SyncAlways: true}, true, 2 * time.Minute},
		{Config{SyncEvery: 2 * time.Second}, false, 2 * time.Second},
		{Config{}, false, 2 * time.Minute},
	} {
		got := openTest(t, c.cfg).srv.JetStreamConfig()
		require.Equal(t, c.always, got.SyncAlways)
		require.Equal(t, c.every, got.SyncInterval)
	}
}
