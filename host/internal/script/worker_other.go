//go:build !linux

package script

// limitProcess does nothing on systems that cannot limit the memory of a process; only watchMemory
// applies.
func limitProcess(int64) error { return nil }
