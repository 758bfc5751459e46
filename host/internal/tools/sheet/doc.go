// Package sheet reads, merges and writes spreadsheets for canvases. It is the ExcelProcessor
// component behind the engine's Tools port.
//
// A table is a list of records: the first row of a sheet names the columns. Numbers stay numbers,
// dates are 2006-01-02. Reading is bounded by the limits of documents, see package document.
package sheet

import "errors"

var (
	// ErrInput means that a node has no file, no data, or a setting that does not fit; the message
	// names it.
	ErrInput = errors.New("spreadsheet")
	// ErrTooLarge means that a result has too many cells; select sheets, or merge fewer files.
	ErrTooLarge = errors.New("spreadsheet has too many cells")
)

// mostCells bounds the cells of a result.
const mostCells = 1_000_000
