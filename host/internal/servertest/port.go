package servertest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// FreePort is a port of loopback that nobody listens on, and that is this process's own until it
// ends: a server may be started on it now, later, and again after it was killed.
//
// It is none of those that the system gives away by itself, to whoever connects to something or
// listens on port 0: one of them that nobody has now may be somebody's in the next moment. Among
// the processes that ask here a lock keeps it.
func FreePort() (port int, err error) {
	first, count := unassigned()
	for range 1000 {
		port := first + rand.IntN(count)
		ours, err := reserve(port)
		if err != nil {
			return 0, err
		}
		if !ours {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port in %d to %d", first, first+count-1)
}

// unassigned are the ports that a program has to ask for by their number.
func unassigned() (first, count int) {
	from, to := 32768, 60999 // Linux's own range, and none is larger
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		// What does not follow leaves the range as it is.
		_, _ = fmt.Sscan(string(text), &from, &to)
	}
	const lowest, highest = 10_000, 65_535
	if below, above := from-lowest, highest-to; below < above {
		return to + 1, above
	}
	return lowest, max(from-lowest, 1)
}

// reserved are the ports of this process, and the file whose bytes all processes lock.
var reserved struct {
	sync.Mutex
	file  *os.File
	ports map[int]bool
}

// reserve takes a port for this process unless it, or another one, has it.
func reserve(port int) (ours bool, err error) {
	reserved.Lock()
	defer reserved.Unlock()
	if reserved.file == nil {
		name := filepath.Join(os.TempDir(), fmt.Sprint("easel-test-ports-", os.Getuid()))
		if reserved.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return false, err
		}
		reserved.ports = map[int]bool{}
	}
	if reserved.ports[port] {
		return false, nil
	}
	reserved.ports[port] = true
	// The lock of a byte of the file, which stays empty, ends with the process.
	err = syscall.FcntlFlock(reserved.file.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK, Start: int64(port), Len: 1})
	if err == syscall.EAGAIN || err == syscall.EACCES {
		return false, nil
	}
	return err == nil, err
}
