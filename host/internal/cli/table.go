package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/easel-canvas/easel/plugins/contract"
)

// printTable prints rows in columns under a header, if there is one. Cells may come from strangers:
// each stays on its line, without characters that could affect a terminal.
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
			fmt.Fprint(w, cmp.Or(contract.PrintableLine(cell), "-"))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
