package walguard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// window is the start of a file that is read or written at each commit. Where the system keeps
// mapped and written contents of a file equal, it is mapped: three system calls would cost a
// twentieth of a small commit.
type window struct {
	file *os.File
	mem  []byte // nil without a mapping
}

// errFault means that the mapped part of a file could not be read or written.
var errFault = errors.New("memory fault: the disk has failed or the file was cut off")

// ReadAt implements [io.ReaderAt] for the mapped part.
func (w *window) ReadAt(b []byte, off int64) (n int, err error) {
	if w.mem == nil {
		return w.file.ReadAt(b, off)
	}
	defer w.recover(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if n = copy(b, w.mem[off:]); n < len(b) {
		err = io.EOF
	}
	return n, err
}

// WriteAt implements [io.WriterAt] for the mapped part.
func (w *window) WriteAt(b []byte, off int64) (n int, err error) {
	if w.mem == nil {
		return w.file.WriteAt(b, off)
	}
	defer w.recover(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if n = copy(w.mem[off:], b); n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

func (w *window) recover(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s: %w (%v)", w.file.Name(), errFault, p)
	}
}
