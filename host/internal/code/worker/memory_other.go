//go:build !linux

package worker

import "time"

// LimitMemory does nothing on systems that cannot limit the memory of a process.
func LimitMemory(int64) error { return nil }

// LimitSpace does nothing on systems that cannot limit the memory of a process.
func LimitSpace(int64) error { return nil }

// LimitTime does nothing on systems that cannot limit the time of a process.
func LimitTime(time.Duration) error { return nil }
