//go:build !unix

package document

// mapMemory is memory of the heap, where the system has no simple way to get other.
func mapMemory(size int64) (room []byte, unmap func(), err error) {
	return make([]byte, size), func() {}, nil
}
