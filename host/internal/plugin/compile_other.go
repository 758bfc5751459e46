//go:build !linux

package plugin

import "os"

// limitProcess does nothing where a process cannot bound itself; only the time on the clock counts.
func limitProcess(CompileLimits) error { return nil }

func outOfTime(*os.ProcessState, string) bool { return false }
