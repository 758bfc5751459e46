package document

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSniffRefusesWhatNoReaderReads(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       error
	}{
		{"a.md", "# Returns", nil},
		{"a.pdf", "%PDF-1.7", nil},
		{"a.docx", "PK\x03\x04", nil},
		{"scan.png", "\x89PNG\r\n\x1a\n", nil},
		{"latin.txt", "caf\xe9", nil},
		{"empty.txt", "", ErrNoText},
		{"a.exe", "MZ\x90\x00\x03\x00\x00\x00", ErrFormat},
		{"a.doc", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", nil},
		{
			"a.xlsx",
			"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a" +
				"\x00g\x00e\x00", ErrEncrypted,
		},
		{".DS_Store", "\x00\x00\x00\x01Bud1\x00\x00", ErrFormat},
	} {
		require.ErrorIs(t, Sniff(c.name, []byte(c.head)), c.want, c.name)
	}
}

// What is refused by its beginning cannot be read as a whole either, but for an empty file, which
// has no chunks.
func FuzzSniff(f *testing.F) {
	f.Add("a.txt", []byte("\x7fELF\x02\x01\x00\x00"))
	f.Add("a.md", []byte("# Returns"))
	r := &Reader{}
	f.Cleanup(func() { _ = r.Close() })
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if err := Sniff(name, data); err == nil || len(data) == 0 || len(data) > 4<<10 {
			return
		}
		_, err := r.Text(context.Background(), name, "", data)
		if err == nil {
			t.Fatalf("%q was refused, but can be read", data)
		}
		if errors.Is(err, ErrBusy) {
			t.Skip()
		}
	})
}
