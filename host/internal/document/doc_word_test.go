package document

import (
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
)

// returnsDoc returns a document of Word 97 and where its head is.
func returnsDoc(t testing.TB) (data []byte, head int) {
	data, err := os.ReadFile("testdata/returns.doc")
	require.NoError(t, err)
	for head = 512; head < len(data); head += 512 {
		if binary.LittleEndian.Uint16(data[head:]) == 0xA5EC {
			return data, head
		}
	}
	t.Fatal("no document")
	return nil, 0
}

func TestOldWord(t *testing.T) {
	data, head := returnsDoc(t)
	list := blocksOf(t, "a.doc", data)
	const want = `# Returns

You can return shoes[^f1] within thirty days. 三十天内可以退货。
[^f1]: A pair is two shoes.

## How

- Pack them
  - in their box
1. Send them

left	right
next line

added

| Item | Days |
| --- | --- |
| Shoes | 30 |
| Gift \| card | never expires |

[the shop](https://example.com/)`
	require.Equal(t, want, block.Markdown(list))
	text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.txt", "", data)
	require.NoError(t, err)
	require.Equal(t, want, text)

	at := func(offset int, value uint32) []byte {
		changed := slices.Clone(data)
		binary.LittleEndian.PutUint32(changed[head+offset:], value)
		return changed
	}
	flags := uint32(binary.LittleEndian.Uint16(data[head+10:]))
	rest := binary.LittleEndian.Uint32(data[head+10:]) &^ 0xFFFF
	for name, c := range map[string]struct {
		data []byte
		is   error
		says string
	}{
		"a password":       {at(10, rest|flags|0x100), ErrEncrypted, ""},
		"Word 95":          {at(0, 0x0065A5DC), ErrFormat, "before 97"},
		"the other table":  {at(10, rest|flags^0x200), ErrDamaged, "missing"},
		"pieces elsewhere": {at(wordPieces, 1<<30), ErrDamaged, "missing"},
		"pieces too long":  {at(wordPieces+4, 1<<31), ErrDamaged, "missing"},
	} {
		_, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.doc", "", c.data)
		require.ErrorIs(t, err, c.is, name)
		require.ErrorContains(t, err, c.says, name)
	}
	for _, table := range []int{
		wordStyleSheet, wordNoteRefs, wordParagraphs, wordCharacters, wordLists, wordOverrides,
	} {
		text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.doc", "", at(table+4, 1<<31))
		require.NoError(t, err)
		require.Contains(t, text, "within thirty days")
	}
}

func FuzzOldWord(f *testing.F) {
	data, head := returnsDoc(f)
	f.Add(uint16(10), uint32(0x1200), uint16(0), uint32(0))
	f.Add(uint16(wordPieces), uint32(1), uint16(0x600), uint32(0xFFFFFFFF))
	f.Fuzz(func(t *testing.T, offset uint16, value uint32, other uint16, more uint32) {
		changed := slices.Clone(data)
		for at, v := range map[int]uint32{int(offset): value, int(other): more} {
			if at = head + at; at+4 <= len(changed) {
				binary.LittleEndian.PutUint32(changed[at:], v)
			}
		}
		checkBlocks(t, "a.doc", changed)
	})
}
