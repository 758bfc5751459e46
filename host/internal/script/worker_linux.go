package script

import "golang.org/x/sys/unix"

// spare is what a Go program reserves beyond its data: address space for its heap and its stacks.
const spare = 4 << 30

// limitProcess bounds the address space of a worker, so that one long step of the interpreter cannot take all memory
// before the watch sees it.
func limitProcess(pid int, memory int64) error {
	n := uint64(memory)*2 + spare
	return unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: n, Max: n}, nil)
}
