//go:build !linux

package script

// limitProcess does nothing where the system does not limit the data of a process; the watch of the
// interpreter remains.
func limitProcess(int64) error { return nil }
