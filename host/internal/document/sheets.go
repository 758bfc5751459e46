package document

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Sheet is one sheet of a workbook. Rows without cells are omitted.
type Sheet struct {
	Name string
	Rows [][]Cell
}

// Cell is a cell as displayed: dates as 2006-01-02, percentages as 12%. A number is formatted as in
// JSON.
type Cell struct {
	Text   string
	Number bool
}

var errNoWorkbook = fmt.Errorf("%w: it is not a workbook; xlsx, xlsm, xls and ods are", ErrFormat)

// Sheets returns the sheets of a workbook (xlsx, xlsm, xls or ods). It has the limits and errors of
// [Reader.Read].
func (r *Reader) Sheets(ctx context.Context, s Source) ([]Sheet, error) {
	var sheets []Sheet
	_, err := r.read(ctx, s, want{sheets: &sheets})
	return sheets, err
}

// sheets reads the document, which must be a workbook.
func (o *office) sheets() ([]Sheet, error) {
	main, err := o.mainPart()
	if err != nil {
		return nil, err
	}
	isODF := main == "" && o.parts[odfContent] != nil && o.parts[container] == nil
	if !isODF && !strings.HasPrefix(main, "xl/") {
		return nil, errNoWorkbook
	}
	var sheets []Sheet
	err = o.collectSheets(&sheets, func(out *page) error {
		if isODF {
			return o.odf(out)
		}
		return o.xlsx(main, out)
	})
	if err == nil && isODF && sheets == nil {
		err = errNoWorkbook
	}
	return sheets, err
}

// collectSheets appends the sheets that read writes.
func (o *office) collectSheets(sheets *[]Sheet, read func(*page) error) error {
	out := newPage(o.limits)
	out.sheet = func(name string) error {
		*sheets = append(*sheets, Sheet{Name: name})
		return o.retain(len(name))
	}
	out.rows = func(texts []string, number []bool) error {
		row := make([]Cell, len(texts))
		for i, text := range texts {
			row[i] = Cell{text, number[i]}
			if err := o.retain(len(text)); err != nil {
				return err
			}
		}
		last := &(*sheets)[len(*sheets)-1]
		last.Rows = append(last.Rows, row)
		return nil
	}
	return errors.Join(read(out), out.err)
}
