package hostile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
)

// archives returns archives with a hostile structure.
func archives() []File {
	return []File{
		{"archives-in-an-archive.docx", func() []byte {
			inner := Archive(Part{"word/document.xml", wordHead, " ", 250 * mega, wordTail})
			for range 5 {
				inner = Archive(Part{"word/document.xml", "", string(inner), 16, ""})
			}
			return inner
		}},
		{"entries.docx", func() []byte {
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			for i := range 100_000 {
				_, err := z.Create(fmt.Sprint("word/", i))
				must(err)
			}
			must(z.Close())
			return b.Bytes()
		}},
		{"overlapping-entries.docx", overlapping},
		{"a-lying-entry.docx", func() []byte {
			data := Archive(Part{
				"word/document.xml", wordHead + "<w:p><w:t>", "x", 250 * mega,
				"</w:t></w:p>" + wordTail,
			})
			return declare(data, 100)
		}},
	}
}

// overlapping returns an archive whose 20,000 entries share the same 10 MB of data.
func overlapping() []byte {
	data := Archive(Part{"word/document.xml", wordHead, "<w:p/>", mega, wordTail})
	end := bytes.LastIndex(data, []byte("PK\x05\x06"))
	start := bytes.LastIndex(data[:end], []byte("PK\x01\x02"))
	entry, tail := data[start:end], data[end:]
	out := bytes.Clone(data[:start])
	for range 20_000 {
		out = append(out, entry...)
	}
	size := len(out) - start
	out = append(out, tail...)
	binary.LittleEndian.PutUint16(out[len(out)-len(tail)+8:], 20_000)
	binary.LittleEndian.PutUint16(out[len(out)-len(tail)+10:], 20_000)
	binary.LittleEndian.PutUint32(out[len(out)-len(tail)+12:], uint32(size))
	return out
}

// declare sets the unpacked size in the directory of an archive with one entry.
func declare(data []byte, size uint32) []byte {
	at := bytes.LastIndex(data, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(data[at+24:], size)
	return data
}
