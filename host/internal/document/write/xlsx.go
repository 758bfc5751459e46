package write

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/host/internal/document"
)

// xlsx returns a book with a sheet for each table. A text without tables is one sheet, Data, with
// one column, Content.
//
// Source: RAGFlow agent/component/message.py at 80a16e71 (behaviour read, code written
// independently). Differs: numbers are numbers, as they are in later versions.
func xlsx(blocks []block, markdown string) ([]byte, error) {
	book := &book{names: map[string]bool{}}
	title := ""
	for _, b := range blocks {
		if b.kind != table {
			if text := plain(b.spans); b.kind == heading || isTitle(text) {
				title = text
			} else {
				title = ""
			}
			continue
		}
		rows := make([][]document.Cell, len(b.rows))
		for i, row := range b.rows {
			for _, cell := range row {
				rows[i] = append(rows[i], cellOf(plain(cell)))
			}
		}
		book.add(title, rows)
		title = ""
	}
	if len(book.sheets) == 0 {
		rows := [][]document.Cell{{{Text: "Content"}}}
		for line := range strings.Lines(markdown) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				rows = append(rows, []document.Cell{cellOf(line)})
			}
		}
		book.add("Data", rows)
	}
	return book.pack()
}

// cellOf returns a cell of a text, which is a number if formatting the number restores the text.
func cellOf(text string) document.Cell {
	text = strings.TrimSpace(text)
	return document.Cell{Text: text, Number: isNumber(text)}
}

// Workbook makes an xlsx file of sheets, whose first rows are heads. Names of sheets are shortened
// and made unique as Excel requires. Errors: [ErrTooLarge].
func Workbook(sheets []document.Sheet) ([]byte, error) {
	book, size := &book{names: map[string]bool{}}, 0
	for _, s := range sheets {
		for _, row := range s.Rows {
			for _, cell := range row {
				size += len(cell.Text) + costOfCell
			}
		}
		if size > mostMemory {
			return nil, fmt.Errorf("%w: its cells take more than %d MiB", ErrTooLarge, mostMemory>>20)
		}
	}
	for _, s := range sheets {
		book.add(s.Name, s.Rows)
	}
	return book.pack()
}

// costOfCell is the cost of writing a cell besides its text.
const costOfCell = 100

// isTitle reports whether a line is the title of the table below it.
func isTitle(line string) bool {
	return strings.HasPrefix(strings.ToLower(line), "table") || strings.Contains(line, ":") ||
		strings.Contains(line, "：")
}

type book struct {
	names  map[string]bool // in lower case
	sheets []part
	list   strings.Builder
}

const (
	longestName = 31      // runes
	longestCell = 32767   // runes
	mostRows    = 1 << 20 // of a sheet
	mostColumns = 1 << 14 // of a sheet
	mostDigits  = 15      // that a number keeps
	sheetSpace  = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	sheetType   = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
)

func (b *book) add(title string, rows [][]document.Cell) {
	n := len(b.sheets) + 1
	name := b.name(title, n)
	fmt.Fprintf(&b.list, `<sheet name="%s" sheetId="%d" r:id="%s"/>`, escape(name), n, relationID(n-1))
	var s strings.Builder
	s.WriteString(
		`<worksheet ` + sheetSpace + `><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" ` +
			`activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>`,
	)
	for i, row := range rows[:min(len(rows), mostRows)] {
		s.WriteString("<row>")
		for _, cell := range row[:min(len(row), mostColumns)] {
			s.WriteString(cellXML(cell, i == 0))
		}
		s.WriteString("</row>")
	}
	s.WriteString("</sheetData></worksheet>")
	b.sheets = append(b.sheets, part{fmt.Sprintf("xl/worksheets/sheet%d.xml", n), s.String()})
}

// name makes a title into a name that a sheet may have, and that no other has.
func (b *book) name(title string, n int) string {
	clean := strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`[]:*?/\#`, r) {
			return -1
		}
		return r
	}, title))
	clean = strings.Trim(cut(clean, longestName), "' ")
	if clean == "" || strings.EqualFold(clean, "history") { // a name that Excel keeps for itself
		clean = "Table_" + strconv.Itoa(n)
	}
	name := clean
	for i := 1; b.names[strings.ToLower(name)]; i++ {
		suffix := "_" + strconv.Itoa(i)
		name = cut(clean, longestName-len(suffix)) + suffix
	}
	b.names[strings.ToLower(name)] = true
	return name
}

func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most])
}

// cellXML returns one cell. Nothing becomes a formula: a text that begins with = stays a text.
func cellXML(cell document.Cell, head bool) string {
	text := cell.Text
	switch {
	case text == "":
		return "<c/>"
	case head:
		return `<c s="1" t="inlineStr"><is><t xml:space="preserve">` + escape(cut(text, longestCell)) + "</t></is></c>"
	case cell.Number && isNumber(text):
		return "<c><v>" + text + "</v></c>"
	}
	return `<c t="inlineStr"><is><t xml:space="preserve">` + escape(cut(text, longestCell)) + "</t></is></c>"
}

// isNumber reports whether a number is preserved when it is stored: no leading zeros as in article
// numbers, no more digits than a sheet keeps.
func isNumber(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if len(digits) > mostDigits+1 || !allDigits(whole) || point && !allDigits(fraction) ||
		len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if len(whole)+len(fraction) > mostDigits {
		return false
	}
	n, err := strconv.ParseFloat(s, 64)
	return err == nil && !math.IsInf(n, 0)
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func (b *book) pack() ([]byte, error) {
	var rels []relation
	for _, s := range b.sheets {
		rels = append(rels, relation{"worksheet", strings.TrimPrefix(s.name, "xl/"), false})
	}
	rels = append(rels, relation{"styles", "styles.xml", false})
	parts := append([]part{
		{
			"xl/workbook.xml",
			`<workbook ` + sheetSpace +
				` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>` +
				b.list.String() + `</sheets></workbook>`,
		},
		{"xl/_rels/workbook.xml.rels", relations(rels...)},
		{
			"xl/styles.xml",
			`<styleSheet ` + sheetSpace + `><fonts count="2"><font><sz val="11"/><name ` +
				`val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
				`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill ` +
				`patternType="gray125"/></fill></fills><borders count="1"><border/></borders>` +
				`<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf xfId="0"/><xf xfId="0" ` +
				`fontId="1" applyFont="1"/></cellXfs></styleSheet>`,
		},
	}, b.sheets...)
	return pack("xl/workbook.xml", sheetType, parts...)
}
