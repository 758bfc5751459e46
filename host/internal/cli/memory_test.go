package cli

import (
	"flag"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

func TestSizesOfMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1073741824": 1 << 30, "1GiB": 1 << 30, "512 MiB": 512 << 20,
		"3GiB": 3 << 30, "7KiB": 7 << 10,
	} {
		var b byteSize
		require.NoError(t, b.Set(text), text)
		require.Equal(t, want, int64(b))
		var again byteSize
		require.NoError(t, again.Set(b.String()))
		require.Equal(t, b, again)
	}
	for _, text := range []string{"", "GiB", "-1GiB", "1.5GiB", "1GB", "99999999999GiB", "1GiBs"} {
		var b byteSize
		require.Error(t, b.Set(text), text)
	}
}

// The heap's soft limit is two fifths of the memory of the host, unless the operator has set one.
func TestServeLimitsItsHeap(t *testing.T) {
	configured := func(env []string, args ...string) (*server, *servertest.Output, error) {
		s, said := &server{}, &servertest.Output{}
		flags := flag.NewFlagSet("serve", flag.ContinueOnError)
		s.define(flags)
		require.NoError(t, flags.Parse(args))
		return s, said, s.configure(withEnv(t, said, said, env))
	}
	_, _, err := configured(nil, "--memory", "100MiB")
	require.EqualError(t, err, "--memory 100MiB: less than 256MiB; 0 means the memory limit of the process")
	_, _, err = configured([]string{"EASEL_MEMORY=much"})
	require.EqualError(t, err, "EASEL_MEMORY=much: expected a size such as 1GiB or 512MiB")

	before := debug.SetMemoryLimit(-1)
	for operator, heap := range map[string]int64{"": 1 << 30 / 100 * heapShare, "700MiB": before} {
		s, said, err := configured([]string{"EASEL_MEMORY=1GiB"})
		require.NoError(t, err)
		undo := s.limitMemory(func(string) string { return operator })
		require.Equal(t, int64(1<<30), s.cfg.Memory)
		require.Equal(t, heap, debug.SetMemoryLimit(-1))
		require.Contains(t, said.String(), "msg=\"memory limits\" memory=1073741824 heap=")
		undo()
		require.Equal(t, before, debug.SetMemoryLimit(-1))
	}
}
