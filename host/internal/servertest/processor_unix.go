//go:build unix

package servertest

import (
	"syscall"
	"time"
)

// ProcessorTime is what this process has used so far, which other processes change little; 0 where
// it is not known.
func ProcessorTime() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
