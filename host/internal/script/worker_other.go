//go:build !linux

package script

// limitProcess does nothing where processes cannot be limited from outside; the watch inside the worker remains.
func limitProcess(int, int64) error { return nil }
