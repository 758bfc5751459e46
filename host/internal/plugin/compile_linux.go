package plugin

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limitProcess has the kernel bound the processor time and the address space of this process.
func limitProcess(l CompileLimits) error {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	pages, _, _ := strings.Cut(string(text), " ")
	size, err := strconv.ParseInt(pages, 10, 64)
	if err != nil {
		return fmt.Errorf("/proc/self/statm: %w", err)
	}
	space := uint64(size*int64(os.Getpagesize()) + l.Memory)
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: space, Max: space}); err != nil {
		return err
	}
	debug.SetMemoryLimit(l.Memory * 3 / 4)
	seconds := uint64((l.CPU + time.Second - 1) / time.Second)
	// If the machine still runs out of memory, the compiler goes before the host.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // a container may forbid it
	return unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds + 1})
}

// outOfTime reports whether a process ended at its limit of processor time.
func outOfTime(state *os.ProcessState, stderr string) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGXCPU || status.Signal() == syscall.SIGKILL) ||
		strings.Contains(stderr, "SIGXCPU")
}
