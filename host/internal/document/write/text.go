package write

import (
	"fmt"
	"strings"
)

// plainText returns the text without marks: paragraphs with a blank line between them, items and
// rows below each other, cells with a tab between them.
func plainText(blocks []block) []byte {
	var b strings.Builder
	last := rule
	for _, block := range blocks {
		text := plain(block.spans)
		switch block.kind {
		case rule:
			text = "---"
		case table:
			text = rowsText(block.rows)
		case item:
			text = strings.Repeat("  ", max(block.level-1, 0)) + itemMark(block) + text
		}
		switch {
		case b.Len() == 0:
		case block.kind == item && last == item:
			b.WriteString("\n")
		default:
			b.WriteString("\n\n")
		}
		b.WriteString(strings.TrimRight(text, "\n"))
		last = block.kind
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return []byte(b.String())
}

func itemMark(b block) string {
	switch {
	case !b.first:
		return "  "
	case b.number > 0:
		return fmt.Sprintf("%d. ", b.number)
	}
	return "- "
}

func rowsText(rows [][][]span) string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = strings.ReplaceAll(plain(cell), "\n", " ")
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}
