// Package markdown writes Markdown for prompts and messages.
package markdown

import "strings"

// cell escapes characters that would end a cell or its row.
var cell = strings.NewReplacer("|", `\|`, "\r\n", "<br>", "\n", "<br>", "\r", "<br>")

// Table writes a table with a head. Rows may be of any length.
func Table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + cell.Replace(c) + " |")
		}
	}
	line(head)
	b.WriteString("\n|" + strings.Repeat(" --- |", len(head)))
	for _, row := range rows {
		b.WriteString("\n")
		line(row)
	}
	return b.String()
}
