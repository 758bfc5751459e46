//go:build unix

package servertest

import (
	"syscall"
	"time"
)

// ProcessorTime returns the processor time of this process, which a busy machine changes little; 0
// if unknown.
func ProcessorTime() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
