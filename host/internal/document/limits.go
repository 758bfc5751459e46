package document

import (
	"fmt"
	"time"
)

// LargestFile is how many bytes a document has at most, unless Limits say otherwise.
const LargestFile = 64 << 20

// Limits bound what reading one document may take. A zero field means its default.
type Limits struct {
	File     int           // bytes of the file; LargestFile
	Text     int           // bytes of the text read from it; 16 MiB
	Unpacked int64         // bytes of all parts of an Office document after unpacking; 256 MiB
	Depth    int           // elements inside each other in a part; 512
	Parts    int           // files inside an Office document; 20,000
	Pages    int           // pages of a PDF; 2,000
	Memory   int           // bytes of the sandbox that reads a PDF; 192 MiB
	Time     time.Duration // for the whole document, without waiting for a turn; 60 s
	PDFs     int           // PDF that are read at the same time, more wait; 2
	Others   int           // the same for everything else; 4
}

func (l Limits) orDefaults() Limits {
	or(&l.File, LargestFile)
	or(&l.Text, 16<<20)
	or(&l.Unpacked, 256<<20)
	or(&l.Depth, 512)
	or(&l.Parts, 20_000)
	or(&l.Pages, 2_000)
	or(&l.Memory, 192<<20)
	or(&l.Time, time.Minute)
	or(&l.PDFs, 2)
	or(&l.Others, 4)
	return l
}

func or[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// tooMuch says that a document needs more than most of something.
func tooMuch(what string, most any) error {
	return fmt.Errorf("%w: more than %v %s", ErrLimit, most, what)
}
