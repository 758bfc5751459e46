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

// FreePort returns an unused loopback port reserved for this process until it exits: a server may
// be started on it any number of times.
//
// The port is outside the ephemeral range, from which the system assigns ports to outgoing
// connections and to listeners on port 0: a free port of that range may be taken at any time. A
// file lock excludes other processes that call FreePort.
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

// unassigned returns the larger range of ports outside the ephemeral one.
func unassigned() (first, count int) {
	from, to := 32768, 60999 // the default on Linux
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		// Fields that cannot be parsed keep their default.
		_, _ = fmt.Sscan(string(text), &from, &to)
	}
	const lowest, highest = 10_000, 65_535
	if below, above := from-lowest, highest-to; below < above {
		return to + 1, above
	}
	return lowest, max(from-lowest, 1)
}

// reserved holds the ports of this process, and the file whose bytes are the locks.
var reserved struct {
	sync.Mutex
	file  *os.File
	ports map[int]bool
}

// reserve takes a port for this process unless this process or another one already has it.
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
	// The byte lock is released when the process exits; the file stays empty.
	err = syscall.FcntlFlock(reserved.file.Fd(), syscall.F_SETLK,
		&syscall.Flock_t{Type: syscall.F_WRLCK, Start: int64(port), Len: 1})
	if err == syscall.EAGAIN || err == syscall.EACCES {
		return false, nil
	}
	return err == nil, err
}
