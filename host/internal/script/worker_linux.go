package script

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// threadStacks is address space for the stacks of later threads, of which little is ever touched.
// It is less than an arena, so the heap cannot grow into it.
const threadStacks = arena - 8<<20

// limitProcess bounds the heap of this process, which is still almost empty, to memory bytes in
// whole arenas plus the rest of its first arena. The kernel refuses more address space, even during
// a single long step of the interpreter that cannot be interrupted, and the Go runtime then exits.
// RLIMIT_DATA does not work here because it does not count address space that was reserved earlier.
func limitProcess(memory int64) error {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	pages, _, _ := strings.Cut(string(text), " ")
	size, err := strconv.ParseInt(pages, 10, 64)
	if err != nil {
		return fmt.Errorf("/proc/self/statm: %w", err)
	}
	n := uint64(size*int64(os.Getpagesize()) + wholeArenas(memory) + threadStacks)
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: n, Max: n}); err != nil {
		return err
	}
	// Below the hard limit, collect garbage more often. A growing stack is copied, and both copies
	// must fit.
	debug.SetMemoryLimit(memory)
	debug.SetMaxStack(int(memory / 8))
	// If the machine or the container still runs out of memory, kill the script before the host.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // a container may forbid it
	return nil
}
