//go:build !unix

package document

// mapMemory allocates on the heap on systems without mmap.
func mapMemory(size int64) (room []byte, unmap func(), err error) {
	return make([]byte, size), func() {}, nil
}
