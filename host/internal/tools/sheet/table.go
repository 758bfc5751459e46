package sheet

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
)

// table is a sheet whose first row names the columns.
type table struct {
	name    string
	columns []string
	rows    [][]engine.Value // as long as columns
}

// tableOf reads a sheet. A column without a name is called by its number, one whose name is taken
// by the name and a number.
func tableOf(name string, rows [][]document.Cell) table {
	t := table{name: name}
	if len(rows) == 0 {
		return t
	}
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	seen := map[string]bool{}
	for i := range width {
		column := ""
		if i < len(rows[0]) {
			column = strings.TrimSpace(rows[0][i].Text)
		}
		if column == "" {
			column = fmt.Sprintf("Unnamed: %d", i)
		}
		unique := column
		for n := 1; seen[unique]; n++ {
			unique = fmt.Sprintf("%s.%d", column, n)
		}
		seen[unique] = true
		t.columns = append(t.columns, unique)
	}
	for _, row := range rows[1:] {
		values := make([]engine.Value, width)
		for i, cell := range row {
			values[i] = valueOf(cell)
		}
		t.rows = append(t.rows, values)
	}
	return t
}

// valueOf returns a cell as JSON; an empty one is null.
func valueOf(c document.Cell) engine.Value {
	if c.Text == "" {
		return engine.Null
	}
	if c.Number {
		if v, err := engine.ParseJSONText(c.Text); err == nil && v.Kind() == engine.KindNumber {
			return v
		}
	}
	return engine.String(c.Text)
}

// records returns the rows as objects.
func (t *table) records() engine.Value {
	list := make([]engine.Value, len(t.rows))
	for i, row := range t.rows {
		o := engine.NewObject(len(row))
		for j, v := range row {
			o.Set(t.columns[j], v)
		}
		list[i] = o.Value()
	}
	return engine.List(list...)
}

// tableFrom reads records, or lists of cells whose first one names the columns.
func tableFrom(name string, v engine.Value) (table, error) {
	if v.Kind() != engine.KindList {
		return table{}, fmt.Errorf("%w: %s is not a list of rows", ErrInput, name)
	}
	t, index := table{name: name}, map[string]int{}
	for i, row := range v.Slice() {
		switch row.Kind() {
		case engine.KindObject:
			t.addRecord(row, index)
		case engine.KindList:
			t.addList(row, index)
		default:
			return table{}, fmt.Errorf("%w: row %d of %s is neither an object nor a list", ErrInput, i+1, name)
		}
		if len(t.columns)*len(t.rows) > mostCells {
			return table{}, fmt.Errorf("%w: more than %d", ErrTooLarge, mostCells)
		}
	}
	t.even()
	return t, nil
}

func (t *table) addRecord(row engine.Value, index map[string]int) {
	values := make([]engine.Value, len(t.columns))
	for name, v := range row.Fields() {
		i, known := index[name]
		if !known {
			i = len(t.columns)
			index[name] = i
			t.columns, values = append(t.columns, name), append(values, engine.Null)
		}
		values[i] = v
	}
	t.rows = append(t.rows, values)
}

// addList adds cells; the first list names the columns.
func (t *table) addList(row engine.Value, index map[string]int) {
	if len(t.columns) == 0 {
		for _, v := range row.Slice() {
			index[v.Text()] = len(t.columns)
			t.columns = append(t.columns, v.Text())
		}
		return
	}
	t.rows = append(t.rows, row.Slice()[:min(row.Len(), len(t.columns))])
}

// even fills rows up to the number of columns.
func (t *table) even() {
	for i, row := range t.rows {
		if missing := len(t.columns) - len(row); missing > 0 {
			t.rows[i] = append(row[:len(row):len(row)], make([]engine.Value, missing)...)
		}
	}
}

// cells returns the columns and rows as a sheet has them.
func (t *table) cells() [][]document.Cell {
	out := make([][]document.Cell, 0, len(t.rows)+1)
	head := make([]document.Cell, len(t.columns))
	for i, c := range t.columns {
		head[i] = document.Cell{Text: c}
	}
	out = append(out, head)
	for _, row := range t.rows {
		line := make([]document.Cell, len(row))
		for i, v := range row {
			line[i] = document.Cell{Text: v.Text(), Number: v.Kind() == engine.KindNumber}
		}
		out = append(out, line)
	}
	return out
}

// readCSV reads comma-separated values; the separator is the one that the first line has most of.
func readCSV(text string) ([][]document.Cell, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = true, -1, true
	r.Comma = document.Separator(text)
	var rows [][]document.Cell
	for n := 0; ; {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
		if n += len(record); n > mostCells {
			return nil, fmt.Errorf("%w: more than %d", ErrTooLarge, mostCells)
		}
		row := make([]document.Cell, len(record))
		for i, field := range record {
			row[i] = document.Cell{Text: field, Number: isNumber(field)}
		}
		rows = append(rows, row)
	}
}

// isNumber holds for a field that JSON would write the same way: no leading zeros, which numbers of
// articles have, and no sign of plus.
func isNumber(field string) bool {
	if field == "" || len(field) > 30 {
		return false
	}
	v, err := engine.ParseJSONText(field)
	return err == nil && v.Kind() == engine.KindNumber && v.JSON() == field
}

// literal returns a cell for a file whose reader derives the type from the first character. A text
// that a spreadsheet program would calculate, and that could start a program or send other cells
// away, gets an apostrophe, which these programs read as the mark of a text. Numbers and texts such
// as +49 30 1234 are left unchanged: without a letter they call no function.
func literal(c document.Cell) string {
	first, _ := utf8.DecodeRuneInString(c.Text)
	calls := strings.ContainsRune("+-＋－", first) && strings.ContainsFunc(c.Text, unicode.IsLetter)
	if c.Text == "" || c.Number || !calls && !strings.ContainsRune("=@＝＠\t\r\n", first) {
		return c.Text
	}
	return "'" + c.Text
}

func writeCSV(t *table) ([]byte, error) {
	var b strings.Builder
	w := csv.NewWriter(&b)
	for _, row := range t.cells() {
		record := make([]string, len(row))
		for i, c := range row {
			record[i] = literal(c)
		}
		if err := w.Write(record); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return []byte(b.String()), w.Error()
}
