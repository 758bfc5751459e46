package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// printTable prints rows in columns under a header, if there is one. Cells may come from strangers:
// control characters are left out, so that they do not reach the terminal.
func printTable(out io.Writer, head []string, rows [][]string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if head != nil {
		fmt.Fprintln(w, strings.Join(head, "\t"))
	}
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, cmp.Or(strings.Map(visible, cell), "-"))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// visible drops control characters.
func visible(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}
