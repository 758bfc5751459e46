package document

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
)

func wide(s string) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}

// compoundFile returns a compound file of streams: path, content, path, content, ... Storages in
// paths end with a slash.
func compoundFile(streams ...string) []byte {
	type node struct {
		name     string
		content  []byte
		storage  bool
		children []int
	}
	nodes := []node{{name: "Root Entry", storage: true}}
	for pair := range slices.Chunk(streams, 2) {
		at := 0
		parts := strings.Split(pair[0], "/")
		for i, part := range parts {
			next := -1
			for _, child := range nodes[at].children {
				if nodes[child].name == part {
					next = child
				}
			}
			if next < 0 {
				next = len(nodes)
				nodes = append(nodes, node{name: part, storage: i < len(parts)-1})
				nodes[at].children = append(nodes[at].children, next)
			}
			at = next
		}
		nodes[at].content = []byte(pair[1])
	}
	le := binary.LittleEndian
	var sectors, directory []byte
	fat := []uint32{}
	chain := func(content []byte) (start uint32) {
		if len(content) == 0 {
			return chainEnd
		}
		start = uint32(len(fat))
		for n := 0; n < len(content); n += 512 {
			fat = append(fat, uint32(len(fat)+1))
			sectors = append(sectors, content[n:min(n+512, len(content))]...)
			sectors = append(sectors, make([]byte, 511-(len(sectors)+511)%512)...)
		}
		fat[len(fat)-1] = chainEnd
		return start
	}
	for i, n := range nodes {
		e := make([]byte, 128)
		name := wide(n.name)
		copy(e, name)
		le.PutUint16(e[64:], uint16(len(name)+2))
		e[66] = 2
		if n.storage {
			e[66] = 1
		}
		left, right, child := uint32(noEntry), uint32(noEntry), uint32(noEntry)
		for _, parent := range nodes {
			if at := slices.Index(parent.children, i); at >= 0 && at+1 < len(parent.children) {
				right = uint32(parent.children[at+1])
			}
		}
		if len(n.children) > 0 {
			child = uint32(n.children[0])
		}
		le.PutUint32(e[68:], left)
		le.PutUint32(e[72:], right)
		le.PutUint32(e[76:], child)
		le.PutUint32(e[116:], chain(n.content))
		le.PutUint64(e[120:], uint64(len(n.content)))
		directory = append(directory, e...)
	}
	start := chain(directory)
	header := make([]byte, 512)
	copy(header, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
	le.PutUint16(header[30:], 9)
	le.PutUint32(header[48:], start)
	le.PutUint32(header[60:], chainEnd)
	le.PutUint32(header[68:], chainEnd)
	for i := range 109 {
		le.PutUint32(header[76+4*i:], noEntry)
	}
	tables := 1
	for tables*128 < len(fat)+tables {
		tables++
	}
	le.PutUint32(header[44:], uint32(tables))
	for i := range tables {
		le.PutUint32(header[76+4*i:], uint32(len(fat)))
		fat = append(fat, chainEnd-1)
	}
	table := make([]byte, 512*tables)
	for i := range len(table) / 4 {
		next := uint32(noEntry)
		if i < len(fat) {
			next = fat[i]
		}
		le.PutUint32(table[4*i:], next)
	}
	return slices.Concat(header, sectors, table)
}

// record returns a record of a workbook.
func record(typ uint16, parts ...any) string {
	var d []byte
	for _, p := range parts {
		switch v := p.(type) {
		case int:
			d = binary.LittleEndian.AppendUint16(d, uint16(v))
		case uint32:
			d = binary.LittleEndian.AppendUint32(d, v)
		case float64:
			d = binary.LittleEndian.AppendUint64(d, math.Float64bits(v))
		case byte:
			d = append(d, v)
		case string:
			d = append(d, v...)
		}
	}
	out := binary.LittleEndian.AppendUint16(nil, typ)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(d)))
	return string(append(out, d...))
}

const xlsWide = byte(1)

// xlsBookOf returns a workbook with records of its globals and of a sheet.
func xlsBookOf(globals, sheet string) []byte {
	begin := record(xlsBegin, 0x600, 5, 0, 0)
	name := record(xlsSheet, uint32(0), 0, byte(1), byte(0), "S")
	at := len(begin) + len(name) + len(globals) + len(record(xlsEnd))
	name = record(xlsSheet, uint32(at), 0, byte(1), byte(0), "S")
	return compoundFile("Work"+
		"book", begin+name+globals+record(xlsEnd)+record(xlsBegin, 0x600, 0x10, 0, 0)+sheet+record(xlsEnd))
}

func TestOldWorkbook(t *testing.T) {
	globals := record(xlsDates, 0) + record(xlsFormat, 164, 4, byte(0), "0.0%") + record(xlsXF, 0, 0) +
		record(xlsXF, 0, 14) + record(xlsXF, 0, 164) +
		record(xlsStrings, uint32(9), uint32(9), 5, byte(0), "Model", 6, byte(0), "Tor") +
		record(xlsContinue, xlsWide, string(wide("que")), 1, xlsWide|8, 2, string(wide("鞋")), "12345678") +
		record(xlsContinue, 1, byte(4), uint32(3), "a", "123", 3, byte(0), "min", 3, byte(0), "max")
	sheet := record(xlsShared, 0, 0, 0, uint32(0)) + record(xlsShared, 0, 1, 0, uint32(1)) +
		record(xlsShared, 1, 1, 0, uint32(4)) + record(xlsShared, 1, 2, 0, uint32(5)) +
		record(xlsShared, 2, 0, 0, uint32(2)) + record(xlsRKs, 2, 1, 0, uint32(1<<2|2), 2, uint32(1234<<2|3), 2) +
		record(xlsNumber, 3, 0, 1, 45000.0) + record(xlsRK, 3, 1, 0, uint32(0x3FF80000)) +
		record(xlsBoolean, 3, 2, 0, byte(1), byte(0)) + record(xlsBoolean, 3, 3, 0, byte(7), byte(1)) +
		record(xlsFormula, 4, 0, 0, 0.25, 0) + record(xlsFormula, 4, 1, 0, "\x00\x00\x00\x00\x00\x00\xff\xff", 0) +
		record(xlsString, 3, byte(0), "sum") + record(xlsFormula, 4, 2, 0, "\x01\x00\x01\x00\x00\x00\xff\xff", 0) +
		record(xlsLabel, 4, 3, 0, 2, xlsWide, string(wide("鞋子"))) +
		record(xlsBegin, 0x600, 0x20) + record(xlsNumber, 5, 0, 0, 9.0) + record(xlsEnd) +
		record(xlsMerged, 2, 0, 1, 0, 0, 0, 0, 1, 2)
	data := xlsBookOf(globals, sheet)
	list := blocksOf(t, "a.xls", data)
	require.Equal(t, "S", list[0].Text)
	require.Equal(t, [][]string{
		{"Model", "Torque", "Torque"},
		{"Model", "min", "max"},
		{"鞋", "1", "1234.0%"},
		{"2023-03-15", "1.5", "TRUE", "#DIV/0!"},
		{"0.25", "sum", "TRUE", "鞋子"},
	}, list[1].Rows)
	require.Equal(t, torqueSpans, list[1].Spans)
	text, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.xls", "", data)
	require.NoError(t, err)
	require.Equal(t, block.Markdown(list), text)
	sheets, err := newReader(t, Limits{Time: patient}).Sheets(t.Context(), Bytes("a.xls", "", data))
	require.NoError(t, err)
	require.Equal(t, []Cell{{"鞋", false}, {"1", true}, {"1234.0%", false}}, sheets[0].Rows[2])

	want, err := os.ReadFile("testdata/orders.xls") // with small sectors
	require.NoError(t, err)
	text, err = newReader(t, Limits{Time: patient}).Text(t.Context(), "", "", want)
	require.NoError(t, err)
	require.Contains(t, text, "| Shoes 鞋 | 0.3 | 25.6% | 2026-02-28 | 2026-02-28 13:05:09 | TRUE | 0.6 |")
}

func TestOldOfficeRefusals(t *testing.T) {
	good := xlsBookOf(record(xlsStrings, uint32(1), uint32(1), 1, byte(0), "x"), record(xlsShared, 0, 0, 0, uint32(0)))
	ring := slices.Clone(good)
	for i := len(ring) - 512; i < len(ring); i += 4 { // each sector leads to the first
		binary.LittleEndian.PutUint32(ring[i:], 0)
	}
	lost := slices.Clone(good)
	binary.LittleEndian.PutUint32(lost[48:], 0xFFFFFF0)
	for name, c := range map[string]struct {
		data []byte
		is   error
		says string
	}{
		"a password":       {xlsBookOf(record(xlsPassword, 0), ""), ErrEncrypted, ""},
		"a newer password": {compoundFile("EncryptedPackage", "x"), ErrEncrypted, ""},
		"Excel 95":         {compoundFile("Book", "x"), ErrFormat, "before 97"},
		"Excel 5": {
			compoundFile("Workbook", record(xlsBegin, 0x500, 5)), ErrFormat, "before 97",
		},
		"another document":      {compoundFile("Quill", "x"), ErrFormat, "save it as docx"},
		"strings that are lost": {xlsBookOf("", record(xlsShared, 0, 0, 0, uint32(7))), ErrDamaged, "missing string"},
		"a record without end": {compoundFile("Workbook", record(xlsBegin, 0x600, 5)+"\x09"+
			"\x08\xff\xff"), ErrDamaged, ""},
		"a ring of sectors":     {ring, ErrDamaged, ""},
		"a directory elsewhere": {lost, ErrDamaged, ""},
		"half a file":           {good[:len(good)/2], ErrDamaged, ""},
		"the head of a file":    {good[:100], ErrDamaged, ""},
		"sectors of another size": {append([]byte("\xD0\xCF\x11\xE0\xA1\xB1"+
			"\x1A\xE1"), make([]byte, 600)...), ErrDamaged, ""},
	} {
		_, err := newReader(t, Limits{Time: patient}).Text(t.Context(), "a.xls", "", c.data)
		require.ErrorIs(t, err, c.is, name)
		require.ErrorContains(t, err, c.says, name)
	}
}

// Strings, rows and entries that lie about their numbers stop at the limits.
func TestHostileOldWorkbook(t *testing.T) {
	limits := Limits{Text: 1 << 20, Work: 8 << 20, Cells: 100_000, Parts: 1000, Time: patient}
	strs := strings.Repeat("\x00\x00\x00", 2700)
	var entries []string
	for i := range 2000 {
		entries = append(entries, strings.Repeat("s/", i%20)+strings.Repeat("x", i%7)+string(rune('a'+i%26))+
			strings.Repeat("y", i/182), "")
	}
	many := slices.Repeat([]string{record(xlsContinue, strs)}, 100)
	for name, data := range map[string][]byte{
		"a million str" +
			"ings": xlsBookOf(record(xlsStrings, uint32(1<<31), uint32(1<<31), strs)+strings.Join(many, ""), ""),
		"a cell in each column": xlsBookOf("", strings.Repeat(record(xlsNumber, 0, 65535, 0, 1.0), 150_000)),
		"merged cells": xlsBookOf("", strings.Repeat(record(xlsMerged, 500, strings.Repeat("\x00"+
			"\x00\xff\xff\x00\x00\xff\xff", 500)), 400)),
		"entries": compoundFile(entries...),
	} {
		read := func() (string, error) { return newReader(t, limits).Text(t.Context(), "a.xls", "", data) }
		_, err := bounded(t, read)
		require.ErrorIs(t, err, ErrLimit, name)
	}
	long := record(xlsStrings, uint32(1), uint32(1), 0xFFFF, byte(12), 0xFFFF, uint32(0xFFFFFFFF), "x")
	data := xlsBookOf(long, record(xlsShared, 0, 0, 0, uint32(0)))
	text, err := newReader(t, limits).Text(t.Context(), "a.xls", "", data)
	require.NoError(t, err)
	require.Contains(t, text, "x")
}

func FuzzOldWorkbook(f *testing.F) {
	f.Add(
		record(xlsStrings, uint32(1), uint32(1), 1, byte(13), 1, uint32(2), "x"), record(xlsShared, 0, 0, 0, uint32(0)))
	f.Add(
		record(xlsFormat, 164, 1, byte(0), "0")+record(xlsXF, 0, 164),
		record(xlsRKs, 2, 1, 0, uint32(6), 0, uint32(7), 2)+
			record(xlsMerged, 1, 0, 1, 0, 1))
	f.Fuzz(func(t *testing.T, globals, sheet string) { checkBlocks(t, "a.xls", xlsBookOf(globals, sheet)) })
}

func FuzzCompound(f *testing.F) {
	f.Add(xlsBookOf("", record(xlsNumber, 0, 0, 0, 1.0)))
	f.Add(compoundFile("a/b", "x", "a/c", "y"))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkBlocks(t, "a.xls", append([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), data[min(8, len(data)):]...))
	})
}
