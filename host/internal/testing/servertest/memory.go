package servertest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// PeakMemory returns the peak resident memory of a process in bytes. It reads /proc and therefore
// works only on Linux.
func PeakMemory(t testing.TB, pid int) int64 { return memory(t, pid, "VmHWM") }

// Memory returns the resident memory of a process in bytes.
func Memory(t testing.TB, pid int) int64 { return memory(t, pid, "VmRSS") }

// memory returns a value from the status of a process, which is in KiB.
func memory(t testing.TB, pid int, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	require.NoError(t, err, "the process has ended")
	_, rest, found := strings.Cut(string(text), "\n"+name+":")
	require.True(t, found, "no %s", name)
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	require.NoError(t, err)
	return n << 10
}
