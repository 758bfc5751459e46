package document

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"github.com/easel-canvas/easel/engine/block"
)

// oldWord reads a document of Word 97 to 2003: pieces of text in the order of the document, with
// the properties of paragraphs by where their text is stored.
//
// Source: [MS-DOC].
type oldWord struct {
	flow
	office     *office
	file       []byte // the stream WordDocument
	table      []byte // the stream with tables of properties
	pieces     []wordPiece
	paragraphs []wordRun // properties by place in the file, in order
	special    []wordRun // text that is shown otherwise
	styles     []oldStyle
	numbering  *numbering
	notes      map[int]string // by the position of their mark

	text   linked
	fields []wordField
	open   []string // texts of notes in the open paragraph
	noteNo int
	grid   gridTable
}

// wordPiece is a part of the text, with its position and its place in the file.
type wordPiece struct {
	from, to int // positions
	place    int
	wide     bool // of two bytes each
}

// wordRun is a range of the file with properties.
type wordRun struct {
	from, to   int
	style      int
	properties []byte
	shows      wordShows
}

// wordShows selects how a range of text is shown.
type wordShows int

const (
	asText    wordShows = iota
	asNothing           // hidden or deleted
	asSign              // as a sign of another font; ( is stored
)

// oldStyle is a paragraph style.
type oldStyle struct {
	heading    int
	base       int
	properties []byte
}

// Positions of tables in the head of the file.
const (
	wordStyleSheet = 0xA2
	wordNoteRefs   = 0xAA
	wordNoteTexts  = 0xB2
	wordCharacters = 0xFA
	wordParagraphs = 0x102
	wordPieces     = 0x1A2
	wordEndRefs    = 0x20A
	wordEndTexts   = 0x212
	wordLists      = 0x2E2
	wordOverrides  = 0x2EA
	wordHeadBytes  = 0x2F2
)

func u16(b []byte) int { return int(binary.LittleEndian.Uint16(b)) }
func u32(b []byte) int { return int(binary.LittleEndian.Uint32(b)) }

// doc reads a document of Word 97 to 2003.
func (o *office) doc(c *compound, out *page) error {
	file, _, err := c.stream(0, "WordDocument")
	if err != nil {
		return err
	}
	if len(file) < wordHeadBytes || u16(file) != 0xA5EC && u16(file) != 0xA5DC || u16(file[2:]) < 0xC1 {
		return fmt.Errorf("%w: it is a document of Word before 97; save it as docx", ErrFormat)
	}
	flags := u16(file[10:])
	if flags&0x100 != 0 {
		return ErrEncrypted
	}
	table, ok, err := c.stream(0, map[bool]string{true: "1Table", false: "0Table"}[flags&0x200 != 0])
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%w: its table of text is missing", ErrDamaged)
	}
	w := &oldWord{flow: newFlow(out), office: o, file: file, table: table, notes: map[int]string{}}
	if err := w.load(); err != nil {
		return err
	}
	return w.read()
}

// part returns the table whose place is stored at an offset of the head; nil if it is outside.
func (w *oldWord) part(at int) []byte {
	from, size := u32(w.file[at:]), u32(w.file[at+4:])
	if from > len(w.table) || size > len(w.table)-from {
		return nil
	}
	return w.table[from : from+size]
}

// load reads the tables.
func (w *oldWord) load() error {
	if err := w.loadPieces(); err != nil {
		return err
	}
	w.loadStyles()
	w.numbering = w.loadNumbering()
	err := w.runs(wordParagraphs, 13, func(from, to int, entry []byte) error {
		if len(entry) < 1 {
			return nil
		}
		size, rest := 2*int(entry[0])-1, entry[1:]
		if size < 0 && len(rest) > 0 {
			size, rest = 2*int(rest[0]), rest[1:]
		}
		if size < 2 || size > len(rest) {
			return nil
		}
		w.paragraphs = append(w.paragraphs, wordRun{from: from, to: to, style: u16(rest), properties: rest[2:size]})
		return w.office.retain(0)
	})
	if err != nil {
		return err
	}
	err = w.runs(wordCharacters, 1, func(from, to int, entry []byte) error {
		if len(entry) < 1 || int(entry[0]) > len(entry)-1 {
			return nil
		}
		shows := asText
		eachProperty(entry[1:1+entry[0]], func(code int, v []byte) {
			switch {
			case (code == 0x0800 || code == 0x083C) && v[0]&1 == 1: // deleted or hidden
				shows = asNothing
			case code == 0x6A09 && shows == asText:
				shows = asSign
			}
		})
		if shows == asText {
			return nil
		}
		w.special = append(w.special, wordRun{from: from, to: to, shows: shows})
		return w.office.retain(0)
	})
	for _, list := range [][]wordRun{w.paragraphs, w.special} {
		slices.SortFunc(list, func(a, b wordRun) int { return a.from - b.from })
	}
	return err
}

// loadPieces reads the table of pieces.
func (w *oldWord) loadPieces() error {
	list := w.part(wordPieces)
	for len(list) >= 3 && list[0] == 1 { // properties of pieces
		list = list[min(3+u16(list[1:]), len(list)):]
	}
	if len(list) < 9 || list[0] != 2 {
		return fmt.Errorf("%w: its table of text is missing", ErrDamaged)
	}
	size := min(u32(list[1:]), len(list)-5)
	list = list[5 : 5+size]
	n := (size - 4) / 12
	for i := range n {
		p := wordPiece{from: u32(list[4*i:]), to: u32(list[4*i+4:])}
		place := u32(list[4*(n+1)+8*i+2:])
		width := 2
		if p.wide = place&(1<<30) == 0; p.wide {
			p.place = place
		} else {
			p.place, width = place&(1<<30-1)/2, 1
		}
		if p.to < p.from || p.place > len(w.file) || (p.to-p.from) > (len(w.file)-p.place)/width {
			return fmt.Errorf("%w: its text is missing", ErrDamaged)
		}
		w.pieces = append(w.pieces, p)
		if err := w.office.retain(0); err != nil {
			return err
		}
	}
	return nil
}

// runs calls visit for each range of the file that a table of pages lists; entries have size bytes
// beyond a first one with the place of the properties.
func (w *oldWord) runs(at, size int, visit func(from, to int, entry []byte) error) error {
	list := w.part(at)
	n := (len(list) - 4) / 8
	for i := range n {
		if i%64 == 0 && w.office.ctx.Err() != nil {
			return w.office.ctx.Err()
		}
		from := u32(list[4*(n+1)+4*i:]) & (1<<22 - 1) * 512
		if from+512 > len(w.file) {
			continue
		}
		p := w.file[from : from+512]
		runs := int(p[511])
		if 4*(runs+1)+size*runs > 511 {
			continue
		}
		for k := range runs {
			var entry []byte
			if place := 2 * int(p[4*(runs+1)+size*k]); place > 0 {
				entry = p[place:511]
			}
			if err := visit(u32(p[4*k:]), u32(p[4*k+4:]), entry); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachProperty calls visit for the properties of a list with their values.
func eachProperty(list []byte, visit func(code int, value []byte)) {
	for len(list) >= 3 {
		code := u16(list)
		list = list[2:]
		size := []int{1, 1, 2, 4, 2, 2, 0, 3}[code>>13]
		if size == 0 {
			size = 1 + int(list[0])
			if code == 0xD608 && len(list) >= 2 {
				size = 1 + u16(list)
			}
		}
		if size > len(list) {
			return
		}
		visit(code, list[:size])
		list = list[size:]
	}
}

// loadStyles reads the paragraph styles.
func (w *oldWord) loadStyles() {
	list := w.part(wordStyleSheet)
	if len(list) < 6 {
		return
	}
	base := u16(list[4:]) // bytes before the name of a style
	list = list[min(2+u16(list), len(list)):]
	for len(list) >= 2 && len(w.styles) < 4096 {
		size := u16(list)
		list = list[2:]
		if size > len(list) {
			return
		}
		d := list[:size]
		list = list[min(size+size%2, len(list)):]
		s := oldStyle{base: 0xFFF}
		if size >= 8 {
			s.base = u16(d[2:]) >> 4
			if builtin := u16(d) & 0xFFF; builtin >= 1 && builtin <= 9 {
				s.heading = builtin
			} else if builtin == 62 {
				s.heading = 1
			}
			if isParagraph := u16(d[2:])&15 == 1; isParagraph && size > base+2 {
				at := base + 2 + 2*u16(d[base:]) + 2
				if at += at % 2; at+4 <= size && at+2+u16(d[at:]) <= size && u16(d[at:]) >= 2 {
					s.properties = d[at+4 : at+2+u16(d[at:])]
				}
			}
		}
		w.styles = append(w.styles, s)
	}
}

// oldParagraph has the properties of a paragraph that affect the text.
type oldParagraph struct {
	heading, list, level int // list is 0 for none
	inTable, rowEnd      bool
	edges                []gridEdge
}

// properties returns the properties of the paragraph that ends at a place of the file.
func (w *oldWord) properties(place int) oldParagraph {
	p := oldParagraph{list: -1, level: -1}
	i, found := slices.BinarySearchFunc(w.paragraphs, place, func(r wordRun, place int) int {
		return cmp.Compare(r.from, place)
	})
	if !found {
		i--
	}
	if i < 0 || w.paragraphs[i].to <= place {
		return oldParagraph{}
	}
	run := w.paragraphs[i]
	w.apply(&p, run.properties)
	for n, id := 0, run.style; n < 16 && id < len(w.styles); n++ { // bounds rings
		s := &w.styles[id]
		w.apply(&p, s.properties)
		p.heading = cmp.Or(p.heading, s.heading)
		id = s.base
	}
	p.list, p.level = max(p.list, 0), max(p.level, 0)
	return p
}

// apply adds properties that are not set yet.
func (w *oldWord) apply(p *oldParagraph, list []byte) {
	eachProperty(list, func(code int, v []byte) {
		switch code {
		case 0x2416:
			p.inTable = v[0] != 0
		case 0x2417:
			p.rowEnd = v[0] != 0
		case 0x2640:
			if p.heading == 0 {
				p.heading = outline(strconv.Itoa(int(v[0])))
			}
		case 0x260A:
			if p.level < 0 {
				p.level = min(int(v[0]), levels-1)
			}
		case 0x460B:
			if p.list < 0 {
				p.list = u16(v)
			}
		case 0xD608:
			p.edges = wordEdges(v[min(2, len(v)):])
		}
	})
}

// wordEdges reads the definition of a row.
func wordEdges(v []byte) (edges []gridEdge) {
	if len(v) < 1 || len(v) < 1+2*(int(v[0])+1) {
		return nil
	}
	n := int(v[0])
	cells := v[1+2*(n+1):]
	for i := range n {
		e := gridEdge{right: int(int16(u16(v[1+2*(i+1):])))}
		if len(cells) >= 20*(i+1) {
			flags := u16(cells[20*i:])
			e.joins, e.continues = flags&2 != 0, flags>>5&3 == 1
		}
		edges = append(edges, e)
	}
	return edges
}

// read reads the text, with its notes where they are referred to, and then the texts of boxes.
func (w *oldWord) read() error {
	count := func(i int) int { return max(u32(w.file[0x4C+4*i:]), 0) & (1<<31 - 1) }
	main, feet := count(0), count(1)
	ends := main + feet + count(2) + count(3) + count(4)
	w.loadNotes(wordNoteRefs, wordNoteTexts, main)
	w.loadNotes(wordEndRefs, wordEndTexts, ends)
	if err := w.characters(0, main); err != nil {
		return err
	}
	boxes := ends + count(5)
	if err := w.characters(boxes, boxes+count(6)); err != nil {
		return err
	}
	w.endGrid(&w.grid)
	return w.page.err
}

// loadNotes reads the texts of notes, which begin at a position.
func (w *oldWord) loadNotes(refs, texts, from int) {
	r, t := w.part(refs), w.part(texts)
	n := min((len(r)-4)/6, len(t)/4-1)
	for i := 0; i < n && i < 10_000; i++ {
		a, b := u32(t[4*i:]), u32(t[4*i+4:])
		if b < a || b-a > w.page.block {
			continue
		}
		var text strings.Builder
		_ = w.each(from+a, from+b, func(c rune, _, _ int) error { // the visit returns no error
			if c >= ' ' {
				text.WriteRune(c)
			} else if c != 2 {
				text.WriteByte(' ')
			}
			return nil
		})
		if line := block.Line(text.String()); line != "" && w.office.retain(len(line)) == nil {
			w.notes[u32(r[4*i:])] = line
		}
	}
}

// each calls visit for the characters from a position to another, with their positions and places.
func (w *oldWord) each(from, to int, visit func(c rune, at, place int) error) error {
	for _, p := range w.pieces {
		a, b := max(p.from, from), min(p.to, to)
		for at := a; at < b; at++ {
			if at%65536 == 0 && w.office.ctx.Err() != nil {
				return w.office.ctx.Err()
			}
			c, place := rune(0), p.place+at-p.from
			if p.wide {
				place = p.place + 2*(at-p.from)
				if c = rune(u16(w.file[place:])); c >= 0xD800 && c < 0xDC00 && at+1 < b {
					c = 0x10000 + (c-0xD800)<<10 + (rune(u16(w.file[place+2:]))-0xDC00)&0x3FF
					at++
				}
			} else if c = rune(w.file[place]); c >= 0x80 {
				c = charmap.Windows1252.DecodeByte(byte(c))
			}
			if err := visit(c, at, place); err != nil {
				return err
			}
		}
	}
	return nil
}

// characters adds the text from a position to another.
func (w *oldWord) characters(from, to int) error {
	next := 0 // of special
	return w.each(from, to, func(c rune, at, place int) error {
		if w.page.err != nil {
			return w.page.err
		}
		for next > 0 && (next == len(w.special) || w.special[next].from > place) {
			next--
		}
		for next < len(w.special) && w.special[next].to <= place {
			next++
		}
		shows := asText
		if next < len(w.special) && w.special[next].from <= place {
			shows = w.special[next].shows
		}
		if c == '(' && shows == asSign {
			c = '•'
		}
		w.character(c, at, place, shows == asNothing)
		return nil
	})
}

func (w *oldWord) character(c rune, at, place int, isHidden bool) {
	n := len(w.fields)
	switch {
	case c == '\r' || c == 7 || c == '\f':
		w.endParagraph(c, w.properties(place))
	case c == 0x13 && n < maxFields:
		w.fields = append(w.fields, wordField{})
	case c == 0x14 && n > 0:
		w.fields[n-1].shown = true
		if target := fieldTarget(w.fields[n-1].instruction.String()); target != "" {
			w.text.begin(target)
		}
	case c == 0x15 && n > 0:
		if fieldTarget(w.fields[n-1].instruction.String()) != "" {
			w.text.end()
		}
		w.fields = w.fields[:n-1]
	case n > 0 && !w.fields[n-1].shown:
		if in := &w.fields[n-1].instruction; in.Len() < 2*maxTarget && c >= ' ' {
			in.WriteRune(c)
		}
	case isHidden:
	case c == 2:
		if note := w.notes[at]; note != "" {
			w.noteNo++
			mark := "[^f" + strconv.Itoa(w.noteNo) + "]"
			w.put(mark)
			w.open = append(w.open, mark+": "+note)
		}
	case c == '\v':
		w.put("\n")
	case c == '\t' || c >= ' ':
		w.put(string(c))
	case c == 0x1E:
		w.put("-")
	}
}

func (w *oldWord) put(text string) {
	if w.text.Len()+len(text) > w.page.block && w.page.err == nil {
		w.page.err = exceeded(LimitBlock, w.page.block, "bytes in one paragraph")
	}
	if w.page.err == nil {
		w.text.text = append(w.text.text, text...)
	}
}

// endParagraph ends a paragraph, a cell or a row.
func (w *oldWord) endParagraph(c rune, p oldParagraph) {
	w.text.end()
	text := strings.TrimSpace(w.text.String())
	w.text.Reset()
	notes := w.open
	w.open = nil
	number, isItem := "", false
	if text != "" && p.list > 0 && p.list != 0xFFFF {
		number, isItem = w.numbering.next(strconv.Itoa(p.list), p.level)
	}
	switch {
	case p.inTable && p.rowEnd:
		w.endGridRow(&w.grid, p.edges)
	case p.inTable:
		if isItem {
			text = itemMark(number) + text
		}
		if text += notesBelow(notes); c == 7 {
			w.addCell(&w.grid, text)
		} else if text != "" {
			w.put(text + "\n")
		}
	default:
		w.endGrid(&w.grid)
		w.show(text, number, notes, p, isItem)
	}
}

func notesBelow(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return "\n" + strings.Join(notes, "\n")
}

// show adds a paragraph outside of tables.
func (w *oldWord) show(text, number string, notes []string, p oldParagraph, isItem bool) {
	switch {
	case text == "":
	case p.heading > 0:
		w.add(heading, strings.Repeat("#", min(p.heading, 6))+" ", block.Line(number+" "+text))
		for _, note := range notes {
			w.add(paragraph, "", note)
		}
	case isItem:
		w.add(item, strings.Repeat("  ", p.level)+itemMark(number), text+notesBelow(notes))
	default:
		w.add(paragraph, "", text+notesBelow(notes))
	}
}
