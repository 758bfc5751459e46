package document

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"github.com/easel-canvas/easel/host/internal/document/pdftest"
)

func TestRefusals(t *testing.T) {
	whole, err := os.ReadFile("testdata/returns.docx")
	require.NoError(t, err)
	locked := archive(t, "word/document.xml", "<a/>")
	for i := 0; i < len(locked)-8; i++ { // set the encryption flag in both headers
		switch string(locked[i : i+4]) {
		case "PK\x03\x04":
			locked[i+6] |= 1
		case "PK\x01\x02":
			locked[i+8] |= 1
		}
	}
	withPassword := excelize.NewFile()
	protected, err := withPassword.WriteToBuffer()
	require.NoError(t, err)
	compound, err := excelize.Encrypt(protected.Bytes(), &excelize.Options{Password: "x"})
	require.NoError(t, err)
	encrypted := onePage("BT /F1 12 Tf 50 700 Td (Hello) Tj ET", "")
	encrypted.Trailer = "/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /O (" + strings.Repeat("o", 32) +
		") /U (" + strings.Repeat("u", 32) + ") /P -4 >>"
	page := onePage("BT /F1 12 Tf 50 700 Td (Hello) Tj ET", "").Bytes()
	noPages := onePage("", "")
	noPages.Objects[1] = "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2000000000 >>"

	r := newReader(t, Limits{Unpacked: 64 << 20})
	for _, c := range []struct {
		name, file string
		data       []byte
		is         error
		says       string
	}{
		{
			"an executable", "a.txt", []byte("\x7fELF\x02\x01\x00\x00\x01\x02"), ErrFormat,
			formats + " can",
		},
		{"an executable of even length with one zero byte", "a.txt", []byte("\x7fELF\x00\xff"), ErrFormat, ""},
		{"binary data without zero bytes", "a.txt", []byte("\x01\x02\x03\x04"), ErrFormat, ""},
		{
			"a zip archive without a document", "a.docx", archive(t, "a.txt", "x"), ErrFormat,
			"no docx, xlsx, pptx, epub or OpenDocument file",
		},
		{"an encrypted workbook", "a.xlsx", compound, ErrEncrypted, ""},
		{"an encrypted archive", "a.docx", locked, ErrEncrypted, ""},
		{"an encrypted PDF", "a.pdf", encrypted.Bytes(), ErrEncrypted, ""},
		{"a truncated archive", "a.docx", whole[:len(whole)/2], ErrDamaged, ""},
		{"a truncated PDF", "a.pdf", page[:len(page)/2], ErrDamaged, "its end is missing"},
		{"an empty PDF", "a.pdf", nil, ErrDamaged, "the file is empty"},
		{"text named .pdf", "a.pdf", []byte("hello"), ErrDamaged, "it is not a PDF"},
		{"a PDF without pages", "a.pdf", noPages.Bytes(), ErrDamaged, "no pages"},
		{"a scan", "a.pdf", onePage("0 0 m 9 9 l S", "").Bytes(), ErrNoText, "only pictures"},
		{"an empty archive", "a.docx", []byte("PK\x05\x06" + strings.Repeat("\x00", 18)), ErrFormat, ""},
		{"an unclosed element", "a.docx", docx(t, "<w:p>"), ErrDamaged, ""},
		{"unbalanced tags", "a.docx", archive(t, "word/document.xml", "</w:p></w:p>"), ErrDamaged, "word/document.xml"},
		{"a document type declaration", "a.docx", archive(t, "word/document.xml",
			`<!DOCTYPE a [<!ENTITY b "bbb"><!ENTITY c "&b;&b;">]><a>&c;</a>`), ErrDamaged, "document type"},
		{"an undefined entity", "a.docx", docx(t, "<w:p><w:t>&boom;</w:t></w:p>"), ErrDamaged, "&boom;"},
		{
			"a missing shared string", "a.xlsx", xlsx(t, "<row><c t='s'><v>7</v></c></row>"), ErrDamaged,
			"a missing string",
		},
		{"a missing slide", "a.pptx", archive(t, "ppt/presentation.xml",
			`<p><p:sldId xmlns:r="r" id="1" r:id="a"/></p>`), ErrDamaged, ""},
		{"deep nesting", "a.docx", docx(t, strings.Repeat("<a>", 100_000)), ErrLimit, "elements inside each other"},
		{
			"a part that exceeds the unpacked limit", "a.docx", bomb(t, "word/document.xml", 80<<20), ErrLimit,
			"bytes after unpacking",
		},
		{
			"a workbook part that exceeds the unpacked limit", "a.xlsx", bomb(t, "xl/workbook.xml", 80<<20), ErrLimit,
			"bytes after unpacking",
		},
		{"too many files in the directory", "a.docx", append([]byte("PK\x03\x04"),
			bytes.Repeat([]byte("PK\x01\x02"), 20_001)...), ErrLimit, "files in the archive"},
		{"too much text", "a.txt", bytes.Repeat([]byte("x"), 16<<20+1), ErrLimit, "bytes of text"},
		{"a large file", "a.bin", make([]byte, 64<<20+1), ErrLimit, "bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := r.Text(t.Context(), c.file, "", c.data)
			require.ErrorIs(t, err, c.is, "%.80q", text)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// bomb returns an archive with a part of size bytes.
func bomb(t *testing.T, name string, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	require.NoError(t, err)
	blank := append(bytes.Repeat([]byte(" "), 1<<20-4), "<a/>"...)
	for range size >> 20 {
		_, err := w.Write(blank)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	require.Less(t, b.Len(), size/500)
	return b.Bytes()
}

// An archive may declare a false size; the limit applies to the bytes that are unpacked.
func TestDeclaredSizesAreNotTrusted(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	packed := []byte(deflated(t, "<a>", 100_000, 1))[2:] // without the zlib header
	w, err := z.CreateRaw(&zip.FileHeader{
		Name: "word/document.xml", Method: zip.Deflate,
		CompressedSize64: uint64(len(packed)), UncompressedSize64: 9, CRC32: crc32.ChecksumIEEE([]byte("x")),
	})
	require.NoError(t, err)
	_, err = w.Write(packed)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	_, err = newReader(t, Limits{}).Text(t.Context(), "", "", b.Bytes())
	require.Error(t, err)
}

// The output, and the memory used on the way, are bounded for a row with only its last column,
// nested tables, and a page with a million open lists.
func TestOutputOfSmallFilesIsBounded(t *testing.T) {
	r := newReader(t, Limits{Text: 1 << 20})
	texts := strings.Repeat("<row><c t='s'><v>0</v></c></row>", 100)
	for _, c := range []struct {
		name, file string
		data       []byte
	}{
		{"rows with only the last column", "", xlsx(t, strings.Repeat("<row><c r='XFD1'><v>1</v></c></row>", 100))},
		{
			"one large shared string in many cells", "",
			xlsx(t, texts, "xl/sharedStrings.xml", "<sst><si><t>"+strings.Repeat("x", 1<<17)+"</t></si></sst>"),
		},
		{"a cell with many paragraphs", "", docx(t,
			"<w:tbl><w:tr><w:tc>"+strings.Repeat("<w:p><w:t>"+strings.Repeat("x", 1000)+"</w:t></w:p>", 2000))},
		{"nested lists", "a.html", []byte(strings.Repeat("<ul><li>x", 200_000))},
		{"nested tables", "a.html", []byte(strings.Repeat("<table><tr><td>x", 1_000_000))},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := allocated()
			_, err := r.Text(t.Context(), c.file, "", c.data)
			require.ErrorIs(t, err, ErrLimit)
			require.Less(t, allocated()-before, uint64(400<<20))
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// nestedForms returns a PDF whose page shows a form that shows the next one ten times, thirty
// levels deep.
func nestedForms() []byte {
	form := "/Type /XObject /Subtype /Form /BBox [0 0 9 9]"
	var forms []string
	for i := range 30 {
		forms = append(forms, pdftest.Stream(fmt.Sprintf("%s /Resources << /XObject << /X %d 0 R >> >>", form, 7+i),
			strings.Repeat("/X Do ", 10)))
	}
	forms = append(forms, pdftest.Stream(form, "BT /F1 9 Tf (x) Tj ET"))
	return onePage("/X Do", "/XObject << /X 6 0 R >>", forms...).Bytes()
}

// hostilePDFs returns PDFs that would run for hours or exhaust memory without limits.
func hostilePDFs(t *testing.T) map[string][]byte {
	packed := func(filter, content string) []byte {
		p := onePage("", "")
		p.Objects[3] = pdftest.Stream("/Filter "+filter, content)
		return p.Bytes()
	}
	return map[string][]byte{
		"nested forms":     nestedForms(),
		"256 MB of spaces": packed("/FlateDecode", deflated(t, strings.Repeat(" ", 1<<20), 1<<8, 1)),
		"a million text objects": packed("/FlateDecode",
			deflated(t, strings.Repeat("BT /F1 9 Tf (x) Tj ET ", 1<<16), 1<<4, 1)),
		"graphics states, compressed twice": packed("[/FlateDecode /FlateDecode]",
			deflated(t, strings.Repeat("q ", 1<<19), 1<<6, 2)),
		"a million open brackets": onePage(strings.Repeat("[", 1<<20), "").Bytes(),
		"a million open objects": (&pdftest.File{Objects: []string{
			"<< /Type /Catalog /Pages 2 0 R >>",
			strings.Repeat("<</Kids[", 1<<17),
		}}).Bytes(),
	}
}

// A hostile PDF stops at its limits together with its sandbox, and does not affect the next
// document.
func TestHostilePDF(t *testing.T) {
	r := newReader(t, Limits{Time: time.Second, Memory: 64 << 20})
	good := onePage("BT /F1 12 Tf 50 700 Td (Hello) Tj ET", "").Bytes()
	_, err := newReader(t, Limits{}).Text(t.Context(), "", "", good) // compiles outside of the time limit
	require.NoError(t, err)
	var group sync.WaitGroup
	for name, data := range hostilePDFs(t) {
		group.Go(func() {
			start := time.Now()
			text, err := r.Text(t.Context(), "x.pdf", "", data)
			if err == nil || text != "" {
				t.Errorf("%s: want an error, got text %.40q", name, text)
			}
			t.Logf("%s, %d bytes: %v after %v", name, len(data), err, time.Since(start).Round(time.Millisecond))
		})
	}
	group.Wait()
	r = newReader(t, Limits{})
	text, err := r.Text(t.Context(), "x.pdf", "", good)
	require.NoError(t, err)
	require.Equal(t, "Hello", text)
}

func TestCancel(t *testing.T) {
	for name, data := range map[string][]byte{
		"PDF":  nestedForms(),
		"docx": docx(t, strings.Repeat("<w:p><w:t>x</w:t></w:p>", 1_000_000)),
		"html": bytes.Repeat([]byte("<p>x"), 8_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			r := newReader(t, Limits{Text: 1 << 30})
			ctx, stop := context.WithCancelCause(t.Context())
			gone := fmt.Errorf("client disconnected")
			time.AfterFunc(50*time.Millisecond, func() { stop(gone) })
			_, err := r.Text(ctx, "x."+name, "", data)
			require.ErrorIs(t, err, gone)
		})
	}
}

func TestPDFPageErrors(t *testing.T) {
	p := onePage("BT /F1 12 Tf 50 700 Td (Hello) Tj ET", "")
	p.Objects[1] = "<< /Type /Pages /Kids [3 0 R] /Count 20 >>"
	text, err := newReader(t, Limits{}).Text(t.Context(), "", "", p.Bytes())
	require.NoError(t, err)
	require.Equal(t, "Hello\n\n[19 of 20 pages cannot be read]", text)
	_, err = newReader(t, Limits{Pages: 19}).Text(t.Context(), "", "", p.Bytes())
	require.ErrorIs(t, err, ErrLimit)
	require.ErrorContains(t, err, "19 pages")
}

func TestClose(t *testing.T) {
	r := &Reader{CacheDir: cacheDir}
	reading := make(chan error, 1)
	go func() {
		_, err := r.Text(t.Context(), "x.pdf", "", nestedForms())
		reading <- err
	}()
	require.Eventually(t, func() bool { r.pdf.mu.Lock(); defer r.pdf.mu.Unlock(); return r.pdf.pdfium.pool != nil },
		patient, time.Millisecond)
	require.NoError(t, r.Close())
	select {
	case err := <-reading:
		require.Error(t, err)
	case <-time.After(patient):
		t.Fatal("the document is still being read")
	}
	_, err := r.Text(t.Context(), "x.pdf", "", []byte("%PDF-1.7"))
	require.ErrorIs(t, err, errClosed)
	require.NoError(t, r.Close())
}

// Corrupt compiled code in the cache is removed before it is used.
func TestCorruptCache(t *testing.T) {
	entry := filepath.Join(cacheDir, "wazero-damaged", strings.Repeat("a", 64))
	require.NoError(t, os.MkdirAll(filepath.Dir(entry), 0o700))
	require.NoError(t, os.WriteFile(entry, []byte("damaged"), 0o600))
	require.NoError(t, os.WriteFile(entry+".sha256", []byte(strings.Repeat("0", 64)), 0o600))
	lines := &bytes.Buffer{}
	r := &Reader{CacheDir: cacheDir, Log: slog.New(slog.NewTextHandler(lines, nil))}
	text, err := r.Text(t.Context(), "x.pdf", "", onePage("BT /F1 12 Tf 50 700 Td (Hello) Tj ET", "").Bytes())
	require.NoError(t, err)
	require.Equal(t, "Hello", text)
	require.NoError(t, r.Close())
	require.NoFileExists(t, entry)
	require.Contains(t, lines.String(), entry)
}

func TestUnwritableCache(t *testing.T) {
	r := &Reader{CacheDir: "reader.go/cache"}
	text, err := r.Text(t.Context(), "x.pdf", "", onePage("BT /F1 12 Tf 50 700 Td (Hello) Tj ET", "").Bytes())
	require.NoError(t, err)
	require.Equal(t, "Hello", text)
	require.NoError(t, r.Close())
}
