package walguard

import (
	"os"
	"syscall"
)

// openWindow maps the first bytes of a file, which must have as many.
func openWindow(f *os.File, size int, write bool) (*window, error) {
	protection := syscall.PROT_READ
	if write {
		protection |= syscall.PROT_WRITE
	}
	mem, err := syscall.Mmap(int(f.Fd()), 0, size, protection, syscall.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return &window{file: f, mem: mem}, nil
}

// Close ends the mapping. The file stays open.
func (w *window) Close() error {
	if w.mem == nil {
		return nil
	}
	mem := w.mem
	w.mem = nil
	return syscall.Munmap(mem)
}
