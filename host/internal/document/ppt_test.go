package document

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
)

// slideRecord returns a record of a presentation; parts are as those of [record].
func slideRecord(version, instance, typ int, parts ...any) string {
	body := record(0, parts...)[4:]
	head := binary.LittleEndian.AppendUint16(nil, uint16(instance<<4|version))
	head = binary.LittleEndian.AppendUint16(head, uint16(typ))
	return string(binary.LittleEndian.AppendUint32(head, uint32(len(body)))) + body
}

// slideShape returns a shape with a text of a kind, and a placeholder.
func slideShape(holder byte, kind uint32, text string) string {
	return slideRecord(0xF, 0, pptShape, slideRecord(0xF, 0, 0xF011, slideRecord(0, 0, pptHolder, uint32(0), holder,
		"xxx")),
		slideRecord(0xF, 0, 0xF00D, slideRecord(0, 0, pptTextKind, kind), slideRecord(0, 0, pptChars,
			string(wide(text)))))
}

// slidesFile returns a presentation of one slide with shapes, whose notes are a shape too.
func slidesFile(shapes, notes string) []byte {
	slide := slideRecord(0xF, 0, pptSlide, slideRecord(2, 0, pptSlideAtom, strings.Repeat("\x00", 16), uint32(9),
		uint32(0)), shapes)
	note := slideRecord(0xF, 0, pptNotes, notes)
	document := slideRecord(0xF, 0, 0x03E8,
		slideRecord(0xF, 0, pptList, slideRecord(0, 0, pptPersist, uint32(2), uint32(0), uint32(0), uint32(256),
			uint32(0)),
			slideRecord(0, 0, pptTextKind, uint32(0)), slideRecord(0, 0, pptBytes, "Caf\xe9"),
			slideRecord(0, 0, pptTextKind, uint32(1)), slideRecord(0, 0, pptBytes, "one\rtwo\vlines")),
		slideRecord(0xF, 2, pptList, slideRecord(0, 0, pptPersist, uint32(3), uint32(0), uint32(0), uint32(9),
			uint32(0))))
	body := document + slide + note
	directory := slideRecord(0, 0, pptDirectory, uint32(3<<20|1), uint32(0), uint32(len(document)),
		uint32(len(document+slide)))
	edit := slideRecord(0, 0, pptEdit, uint32(0), uint32(0), uint32(0), uint32(len(body)), uint32(1), uint32(4),
		uint32(0))
	user := slideRecord(0, 0, 0x0FF6, uint32(0x14), uint32(0xE391C05F), uint32(len(body+directory)))
	return compoundFile("PowerPoint Document", body+directory+edit, "Current User", user)
}

func TestOldSlides(t *testing.T) {
	outlined := func(n uint32) string {
		return slideRecord(0xF, 0, pptShape, slideRecord(0xF, 0, 0xF00D, slideRecord(0, 0, pptOutlineRef, n)))
	}
	data := slidesFile(outlined(0)+outlined(1)+slideShape(0, 4, "free 鞋")+slideShape(13, 4, "Second")+slideShape(7,
		4, "*")+
		outlined(7), slideShape(0, 4, "a header")+slideShape(12, 2, "Say this\rand that"))
	list := blocksOf(t, "a.ppt", data)
	require.Equal(t, "# Slide 1\n\n## Café\n\n- one\n- two lines\n\nfree 鞋\n\n## Second\n\nNotes: Say this\n\nand that",
		block.Markdown(list))
	require.Equal(t, 1, list[1].Page())
	secret := slices.Clone(data)
	at := strings.Index(string(secret), "\x5F\xC0\x91\xE3")
	copy(secret[at:], "\xDF\xC4\xD1\xF3")
	_, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.ppt", "", secret)
	require.ErrorIs(t, err, ErrEncrypted)
	_, err = newReader(t, Limits{Time: patient}).Text(t.Context(), "a.ppt", "", compoundFile("PowerPoint "+
		"Document", "x"))
	require.ErrorIs(t, err, ErrDamaged)
	deep := ""
	for range 100 {
		deep = slideRecord(0xF, 0, 0xF003, deep)
	}
	_, err = newReader(t, Limits{Time: patient}).Text(t.Context(), "a.ppt", "", slidesFile(deep, ""))
	require.ErrorIs(t, err, ErrLimit)
}

func FuzzOldSlides(f *testing.F) {
	f.Add(slideShape(13, 4, "title"), slideShape(12, 2, "note"))
	f.Add(slideRecord(0, 0, pptOutlineRef, uint32(1))+"\x0f\x00\x03\xf0\xff\xff\xff\xff", "")
	f.Fuzz(func(t *testing.T, shapes, notes string) { checkBlocks(t, "a.ppt", slidesFile(shapes, notes)) })
}
