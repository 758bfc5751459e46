package script

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// threadStacks is address space for stacks of threads that start later, of which little is ever
// touched. It is less than an arena, so that the heap cannot grow into it.
const threadStacks = arena - 8<<20

// limitProcess bounds the heap of this process, which has hardly one yet, to memory bytes in whole
// arenas beside what is left of its first one: the kernel refuses more address space, also to one
// long step of the interpreter that nothing else can stop, and the runtime then ends the process.
// The kernel's limit of data is no use here: address space that was reserved before passes it.
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
	// The collector works harder before that. A stack that grows is copied, and both must fit.
	debug.SetMemoryLimit(memory)
	debug.SetMaxStack(int(memory / 8))
	// If memory of the machine or the container runs out all the same, the script goes before the
	// host.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // a container may forbid it
	return nil
}
