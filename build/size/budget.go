package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// row is a line of budget.txt: a form, its limit (0 means none) and its last size, in bytes.
type row struct {
	form        string
	limit, last int
}

var errRow = errors.New("a line is no `form limit last`")

// parse reads a budget; empty lines and those that start with # are ignored.
func parse(text string) ([]row, error) {
	var rows []row
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("%w: %q", errRow, line)
		}
		limit, err1 := strconv.Atoi(f[1])
		last, err2 := strconv.Atoi(f[2])
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("%w: %q", errRow, line)
		}
		rows = append(rows, row{f[0], limit, last})
	}
	return rows, nil
}

// compare prints one line per form and returns those that exceed their limits.
func compare(rows []row, sizes map[string]int, print func(string)) (over []string) {
	for _, r := range rows {
		size := sizes[r.form]
		line := fmt.Sprintf("%-7s %9d  %+8d since last", r.form, size, size-r.last)
		if r.limit > 0 {
			line += fmt.Sprintf("  %9d left of %d", r.limit-size, r.limit)
			if size > r.limit {
				over = append(over, fmt.Sprintf("%s %d of %d", r.form, size, r.limit))
			}
		}
		print(line)
	}
	return over
}

// format returns the budget with new last sizes.
func format(text string, sizes map[string]int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] != "#" {
			line = fmt.Sprintf("%-7s %9s %9d\n", f[0], f[1], sizes[f[0]])
		}
		b.WriteString(line)
	}
	return b.String()
}
