package document

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// mailWith returns a message with attachments: name, content, name, content, ...
func mailWith(attachments ...string) []byte {
	var b strings.Builder
	b.WriteString("Subject: Files\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n\r\nsee below\r\n")
	for i := 0; i < len(attachments); i += 2 {
		b.WriteString("--o\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n" +
			"Content-Disposition: attachment; filename=" + attachments[i] + "\r\n\r\n" +
			base64.StdEncoding.EncodeToString([]byte(attachments[i+1])) + "\r\n")
	}
	b.WriteString("--o--\r\n")
	return []byte(b.String())
}

// Attached documents are read as separate documents, below a heading.
func TestAttachments(t *testing.T) {
	whole, err := os.ReadFile("testdata/returns.docx")
	require.NoError(t, err)
	page := string(onePage("BT /F1 12 Tf 50 700 Td (Hello) Tj ET", "").Bytes())
	word := string(docx(t, `<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:t>Terms</w:t></w:p><w:p><w:t>x</w:t>`+
		`</w:p>`))
	data := mailWith("a.docx", word, "b.pdf", page, "c.csv", "k,v\n1,2\n", "d.eml",
		string(mailWith("e.txt", "inner")), "f.docx", string(whole[:len(whole)/2]), "g.bin", "\x00\x01\x02",
		"h.png", "\x89PNG\x0D\x0A\x1A\x0A")
	const want = "# Files\n\nsee below\n\n## Attachment: a.docx\n\n### Terms\n\nx\n\n## Attachment: " +
		"b.pdf\n\nHello\n\n" +
		"## Attachment: c.csv\n\n"
	const end = "## Attachment: d.eml\n\n### Files\n\nsee below\n\n#### Attachment: e.txt\n\ninner\n\n"
	const last = "Attachment: f.docx (application/octet-stream), not read: the document is damaged: zip: not a " +
		"valid zip file" +
		"\n\nAttachment: g.bin (application/octet-stream)\n\nAttachment: h.png (application/octet-stream)"
	r := newReader(t, Limits{Time: patient})
	text, err := r.Text(t.Context(), "a.eml", "", data)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(text, want+"k,v\n1,2\n\n"+end), text)
	require.True(t, strings.HasSuffix(text, last), text)
	list := blocksOf(t, "a.eml", data)
	text = block.Markdown(list)
	require.True(t, strings.HasPrefix(text, want+"| k | v |\n| --- | --- |\n| 1 | 2 |\n\n"+end), text)
	require.True(t, strings.HasSuffix(text, last), text)
	for _, b := range list {
		require.Empty(t, b.Positions)
	}
}

// Attachments are bounded in depth and count, and in the memory of the host.
func TestAttachmentsAreBounded(t *testing.T) {
	deep := []byte("Subject: end\r\n\r\nx")
	for range 12 {
		deep = mailWith("a.eml", string(deep))
	}
	text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.eml", "", deep)
	require.NoError(t, err)
	require.Contains(t, text, "end")

	var many []string
	for range maxAttached + 1 {
		many = append(many, "a.txt", "text")
	}
	text, err = newReader(t, Limits{Time: patient}).Text(t.Context(), "a.eml", "", mailWith(many...))
	require.NoError(t, err)
	require.Equal(t, maxAttached, strings.Count(text, "\n\ntext"))
	require.True(t, strings.HasSuffix(text, "not read: the document is too large to read: more than 200 attached "+
		"documents"))

	bomb := string(bomb(t, "word/document.xml", 40<<20))
	text, err = newReader(t, Limits{Unpacked: 1 << 20, Time: patient}).Text(t.Context(), "a.eml", "",
		mailWith("a.docx", bomb, "b.txt", "after"))
	require.NoError(t, err)
	require.Contains(t, text, "a.docx (application/octet-stream), not read: the document is too large")
	require.Contains(t, text, "after")

	small := &Reader{CacheDir: cacheDir, Memory: memlimit.New("documents", 8<<20), Limits: Limits{Time: patient}}
	t.Cleanup(func() { require.NoError(t, small.Close()) })
	page := string(onePage("", "").Bytes())
	text, err = small.Text(t.Context(), "a.eml", "", mailWith("a.pdf", page, "b.txt", "after"))
	require.NoError(t, err)
	require.Contains(t, text, "a.pdf (application/octet-stream), not read")
	require.Contains(t, text, "after")
}

// A mail that a program saved in UTF-16 or UTF-32 is the same mail, and so is a part in it.
func TestWideMails(t *testing.T) {
	want, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.eml", "", []byte(sampleMail))
	require.NoError(t, err)
	wide, err := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String(sampleMail)
	require.NoError(t, err)
	var wider []byte
	for _, r := range sampleMail {
		wider = append(wider, byte(r), byte(r>>8), 0, 0)
	}
	for _, data := range [][]byte{[]byte(wide), []byte(wide)[2:], wider, []byte("\uFEFF" + sampleMail)} {
		text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.eml", "", data)
		require.NoError(t, err)
		require.Equal(t, want, text)
	}
	text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.eml", "", []byte(
		"Content-Type: text/plain; charset=utf-16\r\n\r\n\xfe\xff\x97\xde\x00x"))
	require.NoError(t, err)
	require.Equal(t, "\u97dex", text)
}
