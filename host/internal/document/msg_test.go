package document

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
)

// msgProperty returns an entry of the properties of fixed size.
func msgProperty(id, typ int, value uint64) string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(id<<16|typ))
	b = binary.LittleEndian.AppendUint32(b, 0)
	return string(binary.LittleEndian.AppendUint64(b, value))
}

func TestOutlookMessage(t *testing.T) {
	head := strings.Repeat("\x00", 32)
	const sent = (1772445600 + 11644473600) * 10_000_000
	word := string(docx(t, `<w:p><w:t>terms</w:t></w:p>`))
	page := string(onePage("BT /F1 12 Tf 50 700 Td (Hello) Tj ET", "").Bytes())
	data := compoundFile(
		msgProperties, head+msgProperty(msgSubmitted, msgTime, sent)+msgProperty(msgCodePage, msgNumber, 1251),
		"__substg1.0_0037001F", string(wide("Returns 退货")),
		"__substg1.0_0C1A001E", "\xCF\xF0\xE8", "__substg1.0_5D01001F", string(wide("j@example.org")),
		"__substg1.0_0E04001F", string(wide("a@example.org\x00")),
		"__substg1.0_1000001F", string(wide("Five days.\r\n\r\nBye")),
		"__attach_version1.0_#00000000/__substg1.0_3707001F", string(wide("a.docx")),
		"__attach_version1.0_#00000000/__substg1.0_37010102", word,
		"__attach_version1.0_#00000001/__substg1.0_3704001F", string(wide("b.pdf")),
		"__attach_version1.0_#00000001/__substg1.0_37010102", page,
		"__attach_version1.0_#00000002/__substg1.0_3707001F", string(wide("inner")),
		"__attach_version1.0_#00000002/__substg1.0_3701000D/"+msgProperties, head[:24],
		"__attach_version1.0_#00000002/__substg1.0_3701000D/__substg1.0_0037001F", string(wide("Inner")),
		"__attach_version1.0_#00000002/__substg1.0_3701000D/__substg1.0_10130102", "<p>old <b>text</b>",
		"__attach_version1.0_#00000003/__substg1.0_3707001F", string(wide("c.msg")),
		"__attach_version1.0_#00000003/__substg1.0_37010102", string(compoundFile(msgProperties, head,
			"__substg1.0_10090102", "\x00\x00\x00\x00\x00\x00\x00\x00MELA\x00\x00\x00\x00{\\rtf1 in RTF\\par}")))
	const want = "# Returns 退货\n\nFrom: При <j@example.org>\nTo: a@example.org\nDate: Mon, 02 Mar 2026 10:00:00 " +
		"+0000\n\n" +
		"Five days.\n\nBye\n\n## Attachment: a.docx\n\nterms\n\n## Attachment: b.pdf\n\nHello\n\n" +
		"Attachment: inner (message/rfc822)\n\n## Inner\n\nold text\n\n## Attachment: c.msg\n\nin RTF"
	text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.msg", "", data)
	require.NoError(t, err)
	require.Equal(t, want, text)
	require.Equal(t, want, block.Markdown(blocksOf(t, "a.msg", data)))
}

func TestHostileOutlookMessages(t *testing.T) {
	path, deep := "", []string{}
	for range 40 {
		deep = append(deep, path+msgProperties, strings.Repeat("\x00", 32))
		path += "__attach_version1.0_#00000000/__substg1.0_3701000D/"
	}
	_, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.msg", "", compoundFile(deep...))
	require.ErrorIs(t, err, ErrLimit)
	for packed, is := range map[string]error{
		"short": ErrDamaged, strings.Repeat("x", 20): ErrDamaged,
		"\x00\x00\x00\x00\xff\xff\xff\xffLZFu\x00\x00\x00\x00" + strings.Repeat("\xff"+strings.Repeat("\x00"+
			"\x0f", 8), 100): ErrLimit,
	} {
		_, err := unpackedRTF([]byte(packed), 1<<10)
		require.ErrorIs(t, err, is)
	}
}

// The example of [MS-OXRTFCP].
func TestUnpackedRTF(t *testing.T) {
	packed := "\x2d\x00\x00\x00\x2b\x00\x00\x00\x4c\x5a\x46\x75\xf1\xc5\xc7" +
		"\xa7\x03\x00\x0a\x00\x72\x63\x70\x67\x31\x32\x35\x42" +
		"\x32\x0a\xf3\x20\x68\x65\x6c\x09\x00\x20\x62\x77\x05\xb0\x6c\x64\x7d\x0a\x80\x0f\xa0"
	out, err := unpackedRTF([]byte(packed), 1<<20)
	require.NoError(t, err)
	require.Equal(t, "{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n", string(out))
}

func FuzzUnpackedRTF(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00LZFu\x00\x00\x00\x00\x03\x00\x0a\x00\x72\x63\x70\x67"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if out, err := unpackedRTF(data, 1<<16); err == nil && len(out) > 1<<16+200 {
			t.Fatalf("%d bytes", len(out))
		}
	})
}
