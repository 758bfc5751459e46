//go:build !linux

package plugin

import "os"

// wallFactor bounds hostile modules, too.
const wallFactor = 12

// limitProcess does nothing where a process cannot bound itself; only the time on the clock counts.
func limitProcess(CompileLimits) error { return nil }

func outOfTime(*os.ProcessState, string) bool { return false }
