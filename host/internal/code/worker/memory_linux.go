package worker

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// threadStacks is address space for the stacks of later threads, of which little is ever touched.
// It is less than an arena, so the heap cannot grow into it.
const threadStacks = Arena - 8<<20

// LimitMemory bounds the heap of this process, which is still almost empty, to memory bytes in
// whole arenas plus the rest of its first arena. The kernel refuses more address space, even during
// a single long step of an interpreter that cannot be interrupted, and the Go runtime then exits.
// RLIMIT_DATA does not work here because it does not count address space that was reserved earlier.
func LimitMemory(memory int64) error {
	if err := LimitSpace(WholeArenas(memory) + threadStacks); err != nil {
		return err
	}
	// Below the hard limit, collect garbage more often. A growing stack is copied, and both copies
	// must fit.
	debug.SetMemoryLimit(memory)
	debug.SetMaxStack(int(memory / 8))
	return nil
}

// LimitSpace bounds the address space of this process to n bytes more than it has now. If the
// machine or the container still runs out of memory, the kernel kills this process before the host.
func LimitSpace(n int64) error {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	pages, _, _ := strings.Cut(string(text), " ")
	size, err := strconv.ParseInt(pages, 10, 64)
	if err != nil {
		return fmt.Errorf("/proc/self/statm: %w", err)
	}
	space := uint64(size*int64(os.Getpagesize()) + n)
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: space, Max: space}); err != nil {
		return err
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // a container may forbid it
	return nil
}

// LimitTime makes the kernel end this process once it has used d more processor time on each of two
// processors. The host normally kills a worker earlier; this ends the workers of a host that was
// itself killed.
func LimitTime(d time.Duration) error {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return err
	}
	seconds := uint64(used.Utime.Sec+used.Stime.Sec) + 2*uint64(d/time.Second) + 2
	return unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds})
}
