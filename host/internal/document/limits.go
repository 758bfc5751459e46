package document

import "time"

// LargestFile is the default of Limits.File.
const LargestFile = 64 << 20

// Limits bound the resources for reading one document. A zero field means its default.
type Limits struct {
	File       int           // bytes of the file; LargestFile
	Text       int           // bytes of the text read from it; 16 MiB
	Block      int           // bytes of one XML token, paragraph, table row or PDF page; 4 MiB
	Tag        int           // bytes of one HTML tag, comment, script or text node; 16 MiB
	Attributes int           // of one XML element; 1,000
	Cells      int           // of all tables, with empty and covered ones, but not the simple cells of HTML; 5,000,000
	Unpacked   int64         // bytes of all unpacked parts of an Office document; 256 MiB
	Depth      int           // nested elements in a part; 512
	Parts      int           // files in an Office document, also its sheets, also its slides; 20,000
	Pages      int           // pages of a PDF; 2,000
	Work       int64         // bytes of memory for any format but PDF, beyond the file; 64 MiB
	Memory     int           // bytes of the sandbox that reads a PDF; 128 MiB
	Time       time.Duration // for the whole document, not counting waits; 60 s
	Wait       time.Duration // for memory used by other documents; 60 s
	PDFs       int           // PDFs read concurrently; 2
	Others     int           // documents of other formats read concurrently; 4
}

func (l Limits) orDefaults() Limits {
	or(&l.File, LargestFile)
	or(&l.Text, 16<<20)
	or(&l.Block, 4<<20)
	or(&l.Tag, 16<<20)
	or(&l.Attributes, 1_000)
	or(&l.Cells, 5_000_000)
	or(&l.Unpacked, 256<<20)
	or(&l.Depth, 512)
	or(&l.Parts, 20_000)
	or(&l.Pages, 2_000)
	or(&l.Work, 64<<20)
	or(&l.Memory, 128<<20)
	or(&l.Time, time.Minute)
	or(&l.Wait, time.Minute)
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
