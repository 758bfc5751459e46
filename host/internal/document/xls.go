package document

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/easel-canvas/easel/engine/block"
)

// Types of records of a workbook.
const (
	xlsFormula  = 0x0006
	xlsEnd      = 0x000A
	xlsDates    = 0x0022
	xlsPassword = 0x002F
	xlsContinue = 0x003C
	xlsSheet    = 0x0085
	xlsRKs      = 0x00BD
	xlsRich     = 0x00D6
	xlsXF       = 0x00E0
	xlsMerged   = 0x00E5
	xlsStrings  = 0x00FC
	xlsShared   = 0x00FD
	xlsNumber   = 0x0203
	xlsLabel    = 0x0204
	xlsBoolean  = 0x0205
	xlsString   = 0x0207
	xlsRK       = 0x027E
	xlsFormat   = 0x041E
	xlsBegin    = 0x0809
)

// xls reads a workbook of Excel 97 to 2003, sheet by sheet and row by row.
//
// Source: [MS-XLS].
func (o *office) xls(c *compound, out *page) error {
	data, _, err := c.stream(0, "Workbook")
	if err != nil {
		return err
	}
	b := &xlsBook{office: o, data: data, book: workbook{out: out}, codes: map[uint16]numberFormat{}}
	if err := b.globals(); err != nil {
		return err
	}
	for _, s := range b.sheets {
		if out.sheet != nil {
			if err := out.sheet(s.name); err != nil {
				return err
			}
		}
		out.add(heading, "## ", block.Line(s.name))
		if err := b.sheet(s.at); err != nil {
			return err
		}
		out.gap()
	}
	return out.err
}

// xlsBook is the state that all sheets share.
type xlsBook struct {
	office *office
	data   []byte
	book   workbook
	codes  map[uint16]numberFormat
	sheets []xlsSheetAt
}

// xlsSheetAt is a sheet and where it begins.
type xlsSheetAt struct {
	name string
	at   int
}

// xlsRecord is a record with the pieces in which it continues.
type xlsRecord struct {
	typ    uint16
	pieces [][]byte
}

// records calls visit for each record from an offset on, until the end of its stream of records.
// Streams inside it, of charts, are skipped.
func (b *xlsBook) records(at int, visit func(r *xlsRecord) error) error {
	depth := 0
	for n := 0; at >= 0 && at+4 <= len(b.data); n++ {
		if n%1024 == 0 && b.office.ctx.Err() != nil {
			return b.office.ctx.Err()
		}
		r := xlsRecord{typ: binary.LittleEndian.Uint16(b.data[at:])}
		for first := true; at+4 <= len(b.data); first = false {
			if !first && binary.LittleEndian.Uint16(b.data[at:]) != xlsContinue {
				break
			}
			size := int(binary.LittleEndian.Uint16(b.data[at+2:]))
			from := at + 4
			if at = from + size; at > len(b.data) {
				return fmt.Errorf("%w: it ends in the middle", ErrDamaged)
			}
			r.pieces = append(r.pieces, b.data[from:at])
		}
		switch r.typ {
		case xlsBegin:
			depth++
		case xlsEnd:
			if depth--; depth <= 0 {
				return nil
			}
		}
		if depth > 1 {
			continue
		}
		if err := visit(&r); err != nil {
			return err
		}
	}
	return nil
}

// globals reads the data that sheets share.
func (b *xlsBook) globals() error {
	return b.records(0, func(r *xlsRecord) error {
		d := r.pieces[0]
		switch {
		case r.typ == xlsBegin && len(d) >= 2 && binary.LittleEndian.Uint16(d) != 0x0600:
			return fmt.Errorf("%w: it is a workbook of Excel before 97; save it as xlsx", ErrFormat)
		case r.typ == xlsPassword:
			return ErrEncrypted
		case r.typ == xlsDates && len(d) >= 2:
			b.book.from1904 = d[0] == 1
		case r.typ == xlsFormat && len(d) >= 2:
			p := xlsPieces{list: [][]byte{d[2:]}}
			code, _ := p.text(p.u16(), b.book.out.block)
			b.codes[binary.LittleEndian.Uint16(d)] = formatOf(code)
			return b.office.retain(0)
		case r.typ == xlsXF && len(d) >= 4:
			id := binary.LittleEndian.Uint16(d[2:])
			f, own := b.codes[id]
			if !own {
				f = builtinFormat(strconv.Itoa(int(id)))
			}
			b.book.formats = append(b.book.formats, f)
			return b.office.retain(0)
		case r.typ == xlsSheet && len(d) >= 8:
			if len(b.sheets) == b.office.limits.Parts {
				return exceeded(LimitParts, b.office.limits.Parts, "sheets")
			}
			p := xlsPieces{list: [][]byte{d[7:]}}
			name, _ := p.text(int(d[6]), b.book.out.block)
			if isChart := d[5] != 0; !isChart {
				b.sheets = append(b.sheets, xlsSheetAt{name, int(binary.LittleEndian.Uint32(d))})
			}
			return b.office.retain(len(name))
		case r.typ == xlsStrings:
			return b.strings(r)
		}
		return nil
	})
}

// strings reads the shared strings. Their declared number is not trusted.
func (b *xlsBook) strings(r *xlsRecord) error {
	p := xlsPieces{list: r.pieces}
	p.skip(8)
	for p.more() {
		text, ok := p.text(p.u16(), b.book.out.block)
		if !ok {
			return exceeded(LimitBlock, b.book.out.block, "bytes in one cell")
		}
		b.book.texts = append(b.book.texts, text)
		if err := b.office.retain(len(text)); err != nil {
			return err
		}
	}
	return nil
}

// xlsPieces reads the pieces of a record one after the other.
type xlsPieces struct {
	list [][]byte
}

func (p *xlsPieces) more() bool {
	for len(p.list) > 0 && len(p.list[0]) == 0 {
		p.list = p.list[1:]
	}
	return len(p.list) > 0
}

func (p *xlsPieces) byte() byte {
	if !p.more() {
		return 0
	}
	v := p.list[0][0]
	p.list[0] = p.list[0][1:]
	return v
}

func (p *xlsPieces) u16() int { return int(p.byte()) | int(p.byte())<<8 }

func (p *xlsPieces) skip(n int) {
	for n > 0 && p.more() {
		k := min(n, len(p.list[0]))
		p.list[0] = p.list[0][k:]
		n -= k
	}
}

// text reads a string of n characters with its flags. Where it continues in another piece, new
// flags precede its characters. ok is false if it is longer than maxBytes.
func (p *xlsPieces) text(n, maxBytes int) (text string, ok bool) {
	flags := p.byte()
	runs, more := 0, 0
	if flags&8 != 0 {
		runs = p.u16()
	}
	if flags&4 != 0 {
		more = p.u16() | p.u16()<<16
	}
	units := make([]uint16, 0, min(n, 1<<16))
	for len(units) < n && p.more() {
		piece := p.list[0]
		width := 1 + int(flags&1)
		k := min(n-len(units), len(piece)/width)
		for i := range k {
			u := uint16(piece[i*width])
			if width == 2 {
				u = binary.LittleEndian.Uint16(piece[2*i:])
			}
			units = append(units, u)
		}
		p.list[0] = piece[k*width:]
		if len(units) < n {
			p.list[0] = nil // half a character
			flags = p.byte()
		}
	}
	p.skip(4*runs + max(more, 0))
	text = string(utf16.Decode(units))
	return text, len(text) <= maxBytes
}

// xlsRows collects the cells of a row.
type xlsRows struct {
	book    *xlsBook
	rows    *rowWriter
	row     int // from 0
	cells   []string
	kinds   []bool
	size    int
	formula []byte // head of a formula whose result is the next string
}

// sheet reads the rows of the sheet that begins at an offset.
func (b *xlsBook) sheet(at int) error {
	s := &xlsRows{book: b, rows: newRowWriter(b.book.out)}
	if b.book.out.rows == nil {
		if err := b.records(at, s.merged); err != nil {
			return err
		}
		s.rows.merged.sort()
	}
	if err := b.records(at, s.record); err != nil {
		return err
	}
	return s.endRow()
}

// merged notes the ranges of a record, which come after the cells.
func (s *xlsRows) merged(r *xlsRecord) error {
	if r.typ != xlsMerged || len(r.pieces[0]) < 2 {
		return nil
	}
	for d := r.pieces[0][2:]; len(d) >= 8; d = d[8:] {
		u := func(i int) int { return int(binary.LittleEndian.Uint16(d[i:])) }
		if u(0) <= u(2) && u(4) <= u(6) {
			s.rows.merged.list = append(s.rows.merged.list, mergedRange{
				top: u(0) + 1, bottom: u(2) + 1, left: u(4), right: u(6),
			})
		}
		if err := s.book.office.retain(0); err != nil {
			return err
		}
	}
	return nil
}

func (s *xlsRows) record(r *xlsRecord) error {
	d := r.pieces[0]
	if r.typ == xlsString && s.formula != nil {
		p := xlsPieces{list: r.pieces}
		text, _ := p.text(p.u16(), s.rows.out.block)
		head := s.formula
		s.formula = nil
		return s.put(head, 0, text, false)
	}
	if len(d) < 6 {
		return nil
	}
	switch r.typ {
	case xlsShared:
		if len(d) < 10 {
			break
		}
		n := int64(binary.LittleEndian.Uint32(d[6:]))
		if n >= int64(len(s.book.book.texts)) {
			return fmt.Errorf("%w: a cell refers to a missing string", ErrDamaged)
		}
		return s.put(d, 0, s.book.book.texts[n], false)
	case xlsLabel, xlsRich:
		p := xlsPieces{list: append([][]byte{d[6:]}, r.pieces[1:]...)}
		text, _ := p.text(p.u16(), s.rows.out.block)
		return s.put(d, 0, text, false)
	case xlsNumber:
		if len(d) >= 14 {
			return s.number(d, 0, d[4:], math.Float64frombits(binary.LittleEndian.Uint64(d[6:])))
		}
	case xlsRK:
		if len(d) >= 10 {
			return s.number(d, 0, d[4:], rkNumber(binary.LittleEndian.Uint32(d[6:])))
		}
	case xlsRKs:
		for i, rest := 0, d[4:]; len(rest) >= 8; i, rest = i+1, rest[6:] { // the last column follows
			if err := s.number(d, i, rest, rkNumber(binary.LittleEndian.Uint32(rest[2:]))); err != nil {
				return err
			}
		}
	case xlsBoolean:
		if len(d) >= 8 {
			return s.put(d, 0, booleanOrError(d[6], d[7] != 0), false)
		}
	case xlsFormula:
		return s.result(d)
	}
	return nil
}

// result adds the stored result of a formula.
func (s *xlsRows) result(d []byte) error {
	switch {
	case len(d) < 14:
		return nil
	case d[12] != 0xFF || d[13] != 0xFF:
		return s.number(d, 0, d[4:], math.Float64frombits(binary.LittleEndian.Uint64(d[6:])))
	case d[6] == 0:
		s.formula = d
	case d[6] == 1, d[6] == 2:
		return s.put(d, 0, booleanOrError(d[8], d[6] == 2), false)
	}
	return nil
}

// number adds a number as its style displays it. style begins with the index of the style.
func (s *xlsRows) number(head []byte, column int, style []byte, n float64) error {
	f := numberFormat{}
	if i := int(binary.LittleEndian.Uint16(style)); i < len(s.book.book.formats) {
		f = s.book.book.formats[i]
	}
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return s.put(head, column, f.show(n, s.book.book.from1904), f == numberFormat{})
}

// put adds a cell; head begins with its row and column.
func (s *xlsRows) put(head []byte, column int, text string, isNumber bool) error {
	row := int(binary.LittleEndian.Uint16(head))
	column += int(binary.LittleEndian.Uint16(head[2:]))
	if row != s.row {
		if err := s.endRow(); err != nil {
			return err
		}
		s.row = row
	}
	if err := s.rows.out.countCell(); err != nil || text == "" || column >= maxColumns {
		return err
	}
	for len(s.cells) <= column {
		s.cells, s.kinds = append(s.cells, ""), append(s.kinds, false)
	}
	if s.size += len(text); s.size > s.rows.out.block {
		return exceeded(LimitBlock, s.rows.out.block, "bytes in one row")
	}
	s.cells[column], s.kinds[column] = text, isNumber
	return nil
}

func (s *xlsRows) endRow() error {
	err := s.rows.add(s.row+1, s.cells, s.kinds)
	s.cells, s.kinds, s.size = s.cells[:0], s.kinds[:0], 0
	return err
}

// rkNumber decodes a number of 30 bits.
func rkNumber(rk uint32) float64 {
	n := math.Float64frombits(uint64(rk&^3) << 32)
	if rk&2 != 0 {
		n = float64(int32(rk) >> 2)
	}
	if rk&1 != 0 {
		n /= 100
	}
	return n
}

func booleanOrError(v byte, isError bool) string {
	if !isError {
		return strings.ToUpper(strconv.FormatBool(v != 0))
	}
	if name := map[byte]string{
		0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A",
	}[v]; name != "" {
		return name
	}
	return "#ERROR"
}
