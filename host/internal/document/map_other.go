//go:build !unix

package document

// mapMemory is memory of the heap, where the system has no simple way to get other.
func mapMemory(size int64) ([]byte, error) { return make([]byte, size), nil }

// unmapMemory does nothing: the collector frees the memory.
func unmapMemory([]byte) {}
