package document

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// odfFormats are the number formats by their names in OpenDocument.
var odfFormats = map[string]string{
	"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman", "": "none",
	"一, 二, 三, ...": "chineseCounting", "①, ②, ③, ...": "decimalEnclosedCircle", "甲, 乙, 丙, ...": "ideographTraditional",
}

// beginStyle begins a style of paragraphs or of lists, or a level of a list.
func (d *odfReader) beginStyle(e *element) error {
	switch e.name {
	case "style":
		name := e.attr("name")
		if d.style = ""; e.attr("family") == "text" {
			d.style = name
		}
		if e.attr("family") != "paragraph" {
			return nil
		}
		display := strings.ToLower(cmp.Or(e.attr("display-name"), name))
		s := odfStyle{
			parent: e.attr("parent-style-name"), list: e.attr("list-style-name"),
			heading: min(number(e.attr("default-outline-level")), 9),
			code:    codeStyles[strings.ReplaceAll(display, "_20_", " ")],
		}
		if level, ok := strings.CutPrefix(display, "heading "); ok && s.heading == 0 {
			s.heading, _ = strconv.Atoi(level) // a name like "heading xyz" is not a heading
		} else if display == "title" {
			s.heading = 1
		}
		d.styles[name] = s
		return d.office.retain(len(name) + len(e.attr("parent-style-name")) + len(e.attr("list-style-name")))
	case "list-style", "outline-style":
		d.list = e.attr("name")
		if e.name == "outline-style" {
			d.list = ""
		}
		definition := &listDefinition{}
		for i := range definition.levels {
			definition.levels[i] = listLevel{start: 1, format: "none", restart: -1}
		}
		d.lists[d.list] = definition
		return d.office.retain(len(d.list) + levels*overhead)
	}
	if e.name == "text-properties" {
		if d.style != "" && e.attr("display") == "none" {
			d.styles[d.style] = odfStyle{hidden: true}
			return d.office.retain(len(d.style))
		}
		return nil
	}
	return d.listLevel(e)
}

// listLevel defines a level of the open list.
func (d *odfReader) listLevel(e *element) error {
	definition := d.lists[d.list]
	if definition == nil {
		return nil
	}
	at := levelAt(e.attr("level")) - 1
	if at < 0 {
		return nil
	}
	l := &definition.levels[at]
	if e.name == "list-level-style-bullet" {
		l.format = "bullet"
		return nil
	}
	format, ok := odfFormats[e.attr("num-format")]
	if !ok {
		format = "decimal"
	}
	l.format = format
	if start, err := strconv.Atoi(e.attr("start-value")); err == nil {
		l.start = min(max(start, 0), 1<<30)
	}
	if format == "none" && e.attr("num-suffix") == "" && e.attr("num-prefix") == "" {
		return nil
	}
	var shown strings.Builder
	display := min(max(number(e.attr("display-levels")), 1), at+1)
	for i := at - display + 1; i <= at; i++ {
		if i < at {
			shown.WriteString("%" + strconv.Itoa(i+1) + ".")
		} else {
			shown.WriteString("%" + strconv.Itoa(i+1))
		}
	}
	l.text = cmp.Or(e.attr("num-list-format"), e.attr("num-prefix")+shown.String()+e.attr("num-suffix"))
	if named := e.attr("num-list-format"); named != "" { // %1%.%2%
		for i := range levels {
			l.text = strings.ReplaceAll(l.text, "%"+strconv.Itoa(i+1)+"%", "%"+strconv.Itoa(i+1))
		}
	}
	return d.office.retain(len(l.text))
}

func (d *odfReader) beginList(e *element) {
	n := len(d.open)
	switch {
	case e.name == "list":
		style := e.attr("style-name")
		if style == "" && n > 0 {
			style = d.open[n-1].style
		}
		if n == 0 && e.attr("continue-numbering") != "true" && e.attr("continue-list") == "" {
			if l := d.lists[style]; l != nil {
				l.counted = [levels]bool{}
			}
		}
		if n < d.office.limits.Depth {
			d.open = append(d.open, odfList{style: style})
		}
	case n > 0:
		d.open[n-1].numbered, d.open[n-1].shown = e.name == "list-item", false
		d.open[n-1].start = -1
		if start, err := strconv.Atoi(e.attr("start-value")); err == nil {
			d.open[n-1].start = min(max(start, 0), 1<<30)
		}
	}
}

// number sets the mark of a paragraph in a list, and the number of a heading.
func (d *odfReader) number(q *para) {
	n := len(d.open)
	if strings.TrimSpace(q.text.String()) == "" {
		return
	}
	if n == 0 {
		if l := d.lists[""]; q.heading > 0 && l != nil && d.class == "" {
			q.number, _ = l.next(q.heading-1, -1)
		}
		return
	}
	list := &d.open[n-1]
	if !list.numbered || list.shown {
		if q.heading == 0 && q.kind == paragraph && list.shown && d.openCell() == nil {
			q.kind, q.mark = item, strings.Repeat("  ", min(n, 8))+"- "
		}
		return
	}
	list.shown = true
	definition := d.lists[list.style]
	shown, isBullet := "", true
	if definition != nil {
		shown, isBullet = definition.next(min(n, levels)-1, list.start)
	}
	switch {
	case q.heading > 0:
		q.number = shown
	case q.kind == paragraph && (shown != "" || isBullet):
		q.kind, q.mark = item, strings.Repeat("  ", min(n-1, 8))+itemMark(shown)
	}
}

// next counts an item and returns its displayed number; start replaces it unless it is negative.
func (d *listDefinition) next(at, start int) (shown string, isBullet bool) {
	at = min(max(at, 0), levels-1)
	switch {
	case start >= 0:
		d.counters[at] = start
	case !d.counted[at]:
		d.counters[at] = d.levels[at].start
	default:
		d.counters[at]++
	}
	d.counted[at] = true
	clear(d.counted[at+1:])
	return d.shown(at, func(i int) *listLevel { return &d.levels[i] }, func(i int) int { return d.levels[i].start }),
		d.levels[at].format == "bullet"
}

// shown returns the number of the last item of a level.
func (d *listDefinition) shown(at int, level func(int) *listLevel, start func(int) int) string {
	if level(at).format == "bullet" {
		return ""
	}
	var b strings.Builder
	text := level(at).text
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 == len(text) || text[i+1] < '1' || text[i+1] > '9' {
			b.WriteByte(text[i])
			continue
		}
		i++
		k := int(text[i] - '1')
		value, format := d.counters[k], level(k).format
		if !d.counted[k] {
			value = start(k)
		}
		if level(at).decimal && format != "none" {
			format = "decimal"
		}
		b.WriteString(numbered(format, value))
	}
	return b.String()
}

// odfSheet reads the rows of a table of a spreadsheet.
type odfSheet struct {
	rows   *rowWriter
	cells  []string
	kinds  []bool
	row    int // number of the open row, from 1
	column int // of the next cell
	repeat int // times that the open row is repeated

	cell           []string // paragraphs of the open cell
	value          string   // of the open cell, if its text is not used
	isNumber       bool
	columns, spanX int // that the open cell is repeated in, and reaches over
	spanY          int
}

func (s *odfSheet) text(text string) { s.cell = append(s.cell, text) }

// beginTablePart begins a part of a table.
func (d *odfReader) beginTablePart(e *element) error {
	switch e.name {
	case "table":
		return d.beginODFTable(e)
	case "table-header-rows":
		d.isHead = true
	case "table-row":
		if s := d.sheet; s != nil {
			s.repeat = max(number(e.attr("number-rows-repeated")), 1)
			s.column, s.row = 0, s.row+1
		} else if t := d.table(); t != nil {
			t.inRow, t.named = true, d.isHead
		}
	case "table-cell", "covered-table-cell":
		columns := max(number(e.attr("number-columns-repeated")), 1)
		spanX, spanY := number(e.attr("number-columns-spanned")), number(e.attr("number-rows-spanned"))
		switch {
		case d.sheet != nil:
			d.sheet.begin(e, columns, max(spanX, 1), max(spanY, 1))
			return d.page.countCell()
		case e.name == "table-cell":
			d.beginCell(spanX, spanY)
			d.repeats = append(d.repeats, min(columns, maxSpan))
			return d.page.countCell()
		default:
			d.masters = 1
		}
	}
	return nil
}

func (d *odfReader) beginODFTable(e *element) error {
	if isSheet := d.sheet == nil && d.within["spreadsheet"] > 0; !isSheet {
		d.flushCode()
		d.beginTable()
		return nil
	}
	name := e.attr("name")
	if d.page.sheet != nil {
		if err := d.page.sheet(name); err != nil {
			return err
		}
	}
	d.page.add(heading, "## ", strings.Join(strings.Fields(name), " "))
	d.sheet = &odfSheet{rows: newRowWriter(d.page)}
	return nil
}

// endTablePart ends a part of a table.
func (d *odfReader) endTablePart(e *element) error {
	s := d.sheet
	switch {
	case e.name == "table-header-rows":
		d.isHead = false
	case s != nil && e.name == "table-cell":
		return s.end()
	case s != nil && e.name == "table-row":
		return s.endRow()
	case s != nil && e.name == "table":
		d.sheet = nil
		d.page.gap()
	case e.name == "table-cell":
		return d.endODFCell()
	case e.name == "table-row":
		d.endRow()
	case e.name == "table":
		d.endTable()
	}
	return nil
}

// endODFCell ends a cell of a text, and repeats it.
func (d *odfReader) endODFCell() error {
	d.endCell()
	n, t := len(d.repeats), d.table()
	if n == 0 {
		return nil
	}
	repeat := d.repeats[n-1]
	d.repeats = d.repeats[:n-1]
	for ; repeat > 1 && t != nil && len(t.cells) > 0; repeat-- {
		last := t.cells[len(t.cells)-1]
		if err := d.page.countCell(); err != nil || !d.buffer(len(last.text)) {
			return errors.Join(err, d.page.err)
		}
		t.cells = append(t.cells, last)
	}
	return nil
}

// begin begins a cell that is repeated in columns. A covered one is skipped.
func (s *odfSheet) begin(e *element, columns, spanX, spanY int) {
	s.cell, s.value, s.isNumber = s.cell[:0], "", false
	s.columns, s.spanX, s.spanY = columns, spanX, spanY
	if e.name == "covered-table-cell" {
		s.column = min(s.column+columns, maxColumns)
		s.columns = 0
		return
	}
	switch e.attr("value-type") {
	case "float":
		s.value, s.isNumber = e.attr("value"), true
	case "date":
		s.value = strings.Replace(strings.TrimSuffix(e.attr("date-value"), "T00:00:00"), "T", " ", 1)
	case "boolean":
		s.value = strings.ToUpper(e.attr("boolean-value"))
	}
}

func (s *odfSheet) end() error {
	shown := strings.TrimSpace(cmp.Or(s.value, strings.Join(s.cell, "\n")))
	if s.isNumber {
		if n, err := strconv.ParseFloat(shown, 64); err == nil {
			shown = numberFormat{}.show(n, false)
		}
	}
	from := s.column
	s.column = min(s.column+s.columns, maxColumns)
	if shown == "" {
		return nil
	}
	for at := from; at < s.column; at++ {
		for len(s.cells) <= at {
			s.cells, s.kinds = append(s.cells, ""), append(s.kinds, false)
		}
		s.cells[at], s.kinds[at] = shown, s.isNumber
		if err := s.rows.out.countCell(); err != nil {
			return err
		}
	}
	if (s.spanX > 1 || s.spanY > 1) && s.columns == 1 {
		s.rows.merged.list = append(s.rows.merged.list, mergedRange{
			top: s.row, left: from, bottom: s.row + s.spanY - 1, right: from + s.spanX - 1,
		})
	}
	return nil
}

func (s *odfSheet) endRow() error {
	if len(s.cells) == 0 {
		s.row += s.repeat - 1
		return nil
	}
	cells, kinds := s.cells, s.kinds
	s.cells, s.kinds = nil, nil
	for i := range s.repeat {
		s.row += min(i, 1)
		if err := s.rows.add(s.row, slices.Clone(cells), kinds); err != nil {
			return err
		}
		for range min(s.repeat-1, 1) * len(cells) {
			if err := s.rows.out.countCell(); err != nil {
				return err
			}
		}
	}
	return nil
}
