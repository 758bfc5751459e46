package document

import (
	"errors"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
)

// xlsx reads sheet by sheet and row by row: a sheet of a million rows is never in memory as a
// whole.
func (o *office) xlsx(main string, out *page) error {
	list, err := o.relations(main)
	if err != nil {
		return err
	}
	book := &workbook{out: out}
	targets := map[string]string{}
	for _, r := range list {
		switch targets[r.id] = r.target; {
		case strings.HasSuffix(r.kind, "/sharedStrings"):
			err = o.readSharedStrings(r.target, book)
		case strings.HasSuffix(r.kind, "/styles"):
			err = o.numberFormats(r.target, book)
		}
		if err != nil && !errors.Is(err, errNoPart) {
			return err
		}
	}
	type sheet struct{ name, part string }
	var sheets []sheet
	err = o.walk(main, func(e *element) error {
		switch {
		case !e.begins:
		case e.name == "sheet":
			if len(sheets) == o.limits.Parts {
				return exceeded(LimitParts, o.limits.Parts, "sheets")
			}
			sheets = append(sheets, sheet{e.attr("name"), targets[e.related()]})
			return o.retain(len(e.attr("name")))
		case e.name == "workbookPr":
			book.from1904 = e.attr("date1904") != "" && isOn(e.attr("date1904"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range sheets {
		if !strings.Contains(s.part, "worksheets/") {
			continue // a chart sheet
		}
		if out.sheet != nil {
			if err := out.sheet(s.name); err != nil {
				return err
			}
		}
		out.add(heading, "## ", block.Line(s.name))
		if err := o.sheet(s.part, book); err != nil {
			return err
		}
		out.gap()
	}
	return nil
}

// sheet reads the rows of a sheet, then its charts.
func (o *office) sheet(part string, book *workbook) error {
	retained := o.retained
	defer func() { o.retained = retained }() // merged cells and charts are released
	rows := &sheetRows{book: book, rows: newRowWriter(book.out), at: -1}
	if book.out.rows == nil {
		if err := o.mergedCells(part, &rows.rows.merged); err != nil {
			return err
		}
	}
	if err := o.walk(part, rows.step); err != nil || book.out.rows != nil {
		return err
	}
	return o.charts(part, "/drawing", book.out)
}

// charts adds the charts of the drawings of a part.
func (o *office) charts(part, kind string, out *page) error {
	drawings, err := o.relations(part)
	if err != nil {
		return err
	}
	for _, d := range drawings {
		if !strings.HasSuffix(d.kind, kind) {
			continue
		}
		list, err := o.relations(d.target)
		if err != nil {
			return err
		}
		for _, r := range list {
			if !strings.HasSuffix(r.kind, "/chart") {
				continue
			}
			if err := o.chart(r.target, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// workbook is the state that all sheets share.
type workbook struct {
	out      *page
	texts    []string
	formats  []numberFormat // by style index
	from1904 bool           // dates count from 1904
}

// readSharedStrings reads the shared strings without their phonetic guides.
func (o *office) readSharedStrings(part string, book *workbook) error {
	var b strings.Builder
	inText, guide := false, 0
	return o.walk(part, func(e *element) error {
		switch {
		case e.name == "":
			if inText && guide == 0 {
				return writeCell(&b, e.text, book.out.block)
			}
		case e.name == "t":
			inText = e.begins
		case e.name == "rPh":
			guide += map[bool]int{true: 1, false: -1}[e.begins]
		case e.name == "si" && !e.begins:
			book.texts = append(book.texts, b.String())
			err := o.retain(b.Len())
			b.Reset()
			return err
		}
		return nil
	})
}

// numberFormats reads the number format of each style.
func (o *office) numberFormats(part string, book *workbook) error {
	codes := map[string]numberFormat{}
	inCells := false
	return o.walk(part, func(e *element) error {
		switch {
		case e.begins && e.name == "numFmt":
			codes[e.attr("numFmtId")] = formatOf(e.attr("formatCode"))
			return o.retain(len(e.attr("numFmtId")))
		case e.name == "cellXfs":
			inCells = e.begins
		case e.begins && e.name == "xf" && inCells:
			id := e.attr("numFmtId")
			f, own := codes[id]
			if !own {
				f = builtinFormat(id)
			}
			book.formats = append(book.formats, f)
			return o.retain(0)
		}
		return nil
	})
}

// sheetRows reads the rows of a sheet.
type sheetRows struct {
	book  *workbook
	rows  *rowWriter
	cells []string
	kinds []bool // whether each cell is a number; may be shorter than cells
	size  int    // bytes in cells

	row int // number of the open row, from 1

	at                         int // column of the open cell, 0-based
	typ, style                 string
	value, formula, text       strings.Builder
	inValue, inFormula, inText bool
	guide                      int
}

// writeCell appends to the text of a cell, which may have maxBytes bytes.
func writeCell(b *strings.Builder, text string, maxBytes int) error {
	if b.Len()+len(text) > maxBytes {
		return exceeded(LimitBlock, maxBytes, "bytes in one cell")
	}
	b.WriteString(text)
	return nil
}

// maxColumns is the largest number of columns of a sheet.
const maxColumns = 16384

func (s *sheetRows) step(e *element) error {
	if s.book.out.err != nil {
		return s.book.out.err
	}
	switch e.name {
	case "":
		switch {
		case s.inValue:
			return writeCell(&s.value, e.text, s.book.out.block)
		case s.inFormula:
			return writeCell(&s.formula, e.text, s.book.out.block)
		case s.inText && s.guide == 0:
			return writeCell(&s.text, e.text, s.book.out.block)
		}
	case "c":
		if !e.begins {
			return s.endCell()
		}
		s.beginCell(e)
		return s.book.out.countCell()
	case "v":
		s.inValue = e.begins
	case "f":
		s.inFormula = e.begins
	case "t":
		s.inText = e.begins
	case "rPh":
		s.guide += map[bool]int{true: 1, false: -1}[e.begins]
	case "row":
		if !e.begins {
			return s.endRow()
		}
		s.row, s.at = s.row+1, -1
		if n, err := strconv.Atoi(e.attr("r")); err == nil && n > 0 {
			s.row = n
		}
	}
	return nil
}

func (s *sheetRows) beginCell(e *element) {
	s.at++
	if column, ok := columnOf(e.attr("r")); ok {
		s.at = column
	}
	s.typ, s.style = e.attr("t"), e.attr("s")
	s.value.Reset()
	s.formula.Reset()
	s.text.Reset()
}

func (s *sheetRows) endCell() error {
	shown, err := s.shown()
	if err != nil || shown == "" || s.at >= maxColumns {
		return err
	}
	for len(s.cells) <= s.at {
		s.cells, s.kinds = append(s.cells, ""), append(s.kinds, false)
	}
	if s.size += len(shown); s.size > s.book.out.block {
		return exceeded(LimitBlock, s.book.out.block, "bytes in one row")
	}
	s.cells[s.at], s.kinds[s.at] = shown, s.isNumber()
	return nil
}

// shown returns the open cell as displayed.
func (s *sheetRows) shown() (string, error) {
	v := s.value.String()
	switch s.typ {
	case "s":
		n, err := strconv.Atoi(strings.TrimSpace(v))
		if err != nil || n < 0 || n >= len(s.book.texts) {
			return "", errors.Join(ErrDamaged, errors.New("a cell refers to a missing string"))
		}
		return s.book.texts[n], nil
	case "inlineStr":
		return s.text.String(), nil
	case "b":
		return map[string]string{"1": "TRUE", "0": "FALSE"}[strings.TrimSpace(v)], nil
	case "", "n":
		if v != "" {
			return s.number(v), nil
		}
	}
	if v == "" && s.formula.Len() > 0 {
		return "=" + s.formula.String(), nil // without a cached result
	}
	return v, nil
}

func (s *sheetRows) number(v string) string {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil {
		return v
	}
	return s.format().show(n, s.book.from1904)
}

// format returns the number format of the open cell.
func (s *sheetRows) format() numberFormat {
	if i, err := strconv.Atoi(s.style); err == nil && i >= 0 && i < len(s.book.formats) {
		return s.book.formats[i]
	}
	return numberFormat{}
}

// isNumber reports whether the open cell is displayed as a number: not as a date or a percentage,
// and not a string of digits.
func (s *sheetRows) isNumber() bool {
	v := strings.TrimSpace(s.value.String())
	if s.typ != "" && s.typ != "n" || v == "" {
		return false
	}
	_, err := strconv.ParseFloat(v, 64)
	return err == nil && s.format() == numberFormat{}
}

func (s *sheetRows) endRow() error {
	err := s.rows.add(s.row, s.cells, s.kinds)
	s.cells, s.kinds, s.size = s.cells[:0], s.kinds[:0], 0
	return err
}

// rowWriter writes the rows of a sheet.
type rowWriter struct {
	out    *page
	merged mergedCells
	some   bool // the first row was written
}

func newRowWriter(out *page) *rowWriter { return &rowWriter{out: out} }

// add adds a row by its number. Rows without cells are omitted. kinds marks the cells that are
// numbers.
func (w *rowWriter) add(row int, cells []string, kinds []bool) error {
	switch {
	case len(cells) == 0:
		return nil
	case w.out.rows != nil:
		return w.out.rows(cells, kinds)
	}
	cells, merges := w.merged.fill(row, cells)
	size := 0
	for _, text := range cells {
		size += len(text)
	}
	if size > w.out.block {
		return exceeded(LimitBlock, w.out.block, "bytes in one row")
	}
	w.out.row(cells, merges, !w.some, false)
	w.some = true
	return w.out.err
}

// columnOf returns the 0-based column of a cell reference: 1 for B7.
func columnOf(name string) (int, bool) {
	column := 0
	for i := range len(name) {
		c := name[i]
		if c < 'A' || c > 'Z' {
			return column - 1, i > 0
		}
		if column = column*26 + int(c-'A') + 1; column > maxColumns {
			return maxColumns, true
		}
	}
	return 0, false
}
