package plugin

import (
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/easel-canvas/easel/host/internal/code/worker"
)

// wallFactor is generous: the kernel bounds the processor time, so that only a process that hangs
// or gets little of a processor lasts as long.
const wallFactor = 60

// limitProcess has the kernel bound the processor time and the address space of this process.
func limitProcess(l CompileLimits) error {
	if err := worker.LimitSpace(l.Memory); err != nil {
		return err
	}
	debug.SetMemoryLimit(l.Memory * 3 / 4)
	seconds := uint64((l.CPU + time.Second - 1) / time.Second)
	return unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds})
}

// outOfTime reports whether a process ended at its limit of processor time.
func outOfTime(state *os.ProcessState, stderr string) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGXCPU || status.Signal() == syscall.SIGKILL) ||
		strings.Contains(stderr, "SIGXCPU")
}
