package layout

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// contentsRows is the number of lines in a row that end in rising page numbers and are a table of
// contents; with leaders of dots each is one.
const contentsRows = 3

// markContents marks the lines of tables of contents and joins their pieces, which some files write
// column by column.
func markContents(rows [][]segment, pages int) {
	start, last := -1, 0
	leaders, gaps := 0, 0
	finish := func(end int) {
		if start >= 0 && end-start >= contentsRows && (leaders > 0 || gaps == end-start) {
			for _, row := range rows[start:end] {
				mark(row)
			}
		}
		start, last, leaders, gaps = -1, 0, 0, 0
	}
	for i, row := range rows {
		n := pageNumber(row)
		if n <= 0 || n > pages+maxPrelude || n < last {
			finish(i)
		}
		if hasLeaders(row) {
			mark(row)
			leaders++
		}
		if n <= 0 || n > pages+maxPrelude {
			continue
		}
		if start < 0 {
			start = i
		}
		if last = n; len(row) > 1 {
			gaps++
		}
	}
	finish(len(rows))
	for i, row := range rows {
		if row[0].contents && len(row) > 1 {
			rows[i] = []segment{*joined(row)}
		}
	}
}

// maxPrelude bounds by how many page numbers may exceed the number of pages of a file.
const maxPrelude = 1000

func mark(row []segment) {
	for i := range row {
		row[i].contents = true
	}
}

// hasLeaders reports whether a line has a row of dots.
func hasLeaders(row []segment) bool {
	for i := range row {
		for _, leader := range [...]string{". . . .", "......", "……"} {
			if strings.Contains(row[i].text, leader) {
				return true
			}
		}
	}
	return false
}

// pageNumber returns the number that ends a line with letters; 0 for none.
func pageNumber(row []segment) int {
	last := row[len(row)-1].text
	number := last[strings.LastIndexByte(last, ' ')+1:]
	if len(number) > 5 || len(row) == 1 && number == last {
		return 0
	}
	if !slices.ContainsFunc(row, func(s segment) bool { return strings.ContainsFunc(s.text, unicode.IsLetter) }) {
		return 0
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
