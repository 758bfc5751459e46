package plugin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
)

// TestGoGuest runs a guest of the standard Go toolchain.
func TestGoGuest(t *testing.T) {
	dir := t.TempDir()
	bytesOf := pack(t, goGuest(t, "goguest"), map[string]any{"limits": map[string]any{"memory_mb": 32}})
	h := newHost(t, Config{CacheDir: dir})
	began := time.Now()
	m, err := h.Load(context.Background(), bytesOf, LoadOptions{})
	require.NoError(t, err)
	cold := time.Since(began)
	call := func(export, input string, timeout time.Duration) (string, error) {
		res, err := m.Call(context.Background(), CallRequest{Export: export, Input: []byte(input), Timeout: timeout})
		return string(res.Output), err
	}

	t.Run("a megabyte comes back", func(t *testing.T) {
		in := strings.Repeat("Ålesund ", 1<<17)
		out, err := call("echo", in, 0)
		require.NoError(t, err)
		require.Equal(t, in, out)
	})
	t.Run("computes what Go computes", func(t *testing.T) {
		out, err := call("hash", "easel", 0)
		require.NoError(t, err)
		want := sha256.Sum256([]byte("easel"))
		require.True(t, bytes.Equal(want[:], []byte(out)))
	})
	t.Run("sees nothing of the host", func(t *testing.T) {
		out, err := call("world", "", 0)
		require.NoError(t, err)
		require.Equal(t, "args 0 env 0 file true dir true clock true", out)
	})
	for _, c := range []struct {
		export, message string
		want            contract.Code
		timeout         time.Duration
	}{
		{"panics", "the sky fell", contract.Panic, 0},
		{"exits", "status 3", contract.Exit, 0},
		{"bomb", "32 MB", contract.OutOfMemory, 0},
		{"spin", "in time", contract.Timeout, 100 * time.Millisecond},
		{"sleeps", "in time", contract.Timeout, 100 * time.Millisecond},
		{"recurses", "", contract.Panic, 0},
	} {
		t.Run(c.export+" is "+string(c.want), func(t *testing.T) {
			_, err := call(c.export, "", c.timeout)
			if c.export == "recurses" { // Go's own stack limit, or the memory its stack may use
				require.True(t, is(err, contract.Panic) || is(err, contract.OutOfMemory) ||
					is(err, contract.StackOverflow), "%v", err)
			} else {
				require.ErrorIs(t, err, c.want)
			}
			require.ErrorContains(t, err, c.message)
			out, err := call("echo", "still here", 0)
			require.NoError(t, err)
			require.Equal(t, "still here", out)
		})
	}
	t.Run("loads quickly from the disk cache", func(t *testing.T) {
		best := time.Hour
		for range 5 { // a busy machine may be late, but not each time
			other := newHost(t, Config{CacheDir: dir})
			began := time.Now()
			_, err := other.Load(context.Background(), bytesOf, LoadOptions{})
			require.NoError(t, err)
			if best = min(best, time.Since(began)); best < cold/2 {
				break
			}
		}
		t.Logf("%v for %d KB, %v without", best, len(bytesOf)>>10, cold)
		require.Less(t, best, cold/2, "it is 25 times faster on a quiet machine; make plugin-bench holds it to 150 ms")
	})
}
