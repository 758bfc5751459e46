package servertest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// PeakMemory is the most resident memory that a process has had, in bytes. It reads /proc, which
// only Linux has.
func PeakMemory(t testing.TB, pid int) int64 { return memory(t, pid, "VmHWM") }

// Memory is the resident memory of a process, in bytes.
func Memory(t testing.TB, pid int) int64 { return memory(t, pid, "VmRSS") }

// memory is a line of the status of a process, which is in KiB.
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
