package layout

import (
	"slices"
	"strings"
	"unicode"
)

// Limits of the evidence for tables without rules.
const (
	besideWords  = 3  // of the file from a cell to its neighbour
	cellWords    = 6  // of the median cell
	fewRows      = 4  // of a table that needs more evidence
	leastSigns   = 2  // of evidence for such a table
	captionLines = 3  // above and below that are looked at for a caption
	filledLines  = 12 // above and below that are looked at for justified text
)

// isTable reports whether lines are a table: they stand in columns, and there is no sign that they
// are columns of text or justified text with wide blanks.
func isTable(rows [][]segment, at, end int, cols []interval, rules []Box) bool {
	if end-at < 2 || len(cols) < 2 || end-at < 3 && len(cols) < 3 {
		return false
	}
	list := rows[at:end]
	if isProse(rows, at, end, cols) || isColumnwise(list, cols) || isRagged(list, cols) || isFilled(rows, at, end) ||
		isSentences(list) || isFormula(list) {
		return false
	}
	return end-at >= fewRows || signs(rows, at, end, rules) >= leastSigns
}

// signs counts the evidence for a table of few rows.
func signs(rows [][]segment, at, end int, rules []Box) (n int) {
	for _, found := range [...]bool{
		hasShortCells(rows[at:end]), !hasHyphens(rows[at:end]), hasCaption(rows, at, end),
		isBetweenRules(rows, at, end, rules),
	} {
		if found {
			n++
		}
	}
	return n
}

func hasShortCells(rows [][]segment) bool {
	var words []int
	for _, row := range rows {
		for i := range row {
			words = append(words, strings.Count(row[i].text, " ")+1)
		}
	}
	slices.Sort(words)
	return words[len(words)/2] <= cellWords
}

// hasHyphens reports whether a cell ends inside a word.
func hasHyphens(rows [][]segment) bool {
	for _, row := range rows {
		for i := range row {
			if isDivided(row[i].text) {
				return true
			}
		}
	}
	return false
}

// hasCaption reports whether a line near a table names it.
func hasCaption(rows [][]segment, at, end int) bool {
	for i := max(0, at-captionLines); i < min(len(rows), end+captionLines); i++ {
		if (i < at || i >= end) && isCaption(rows[i][0].text, tableWords) {
			return true
		}
	}
	return false
}

// isBetweenRules reports whether there are rules close above and below lines.
func isBetweenRules(rows [][]segment, at, end int, rules []Box) bool {
	box := rows[at][0].Box
	for _, row := range rows[at:end] {
		for i := range row {
			box = box.union(row[i].Box)
		}
	}
	height := rows[at][0].height()
	above, below := false, false
	for _, r := range rules {
		if r.Left > box.Right || r.Right < box.Left {
			continue
		}
		above = above || r.Top <= box.Top+height/2 && r.Top > box.Top-2*height
		below = below || r.Top >= box.Bottom-height/2 && r.Top < box.Bottom+2*height
	}
	return above && below
}

// isSentences reports whether most cells are long, or are parts of sentences that go on in the next
// line.
func isSentences(rows [][]segment) bool {
	long, cells := 0, 0
	for _, row := range rows {
		for i := range row {
			if strings.Count(row[i].text, " ") >= 2*cellWords {
				long++
			}
			cells++
		}
	}
	return 2*long > cells
}

// isFormula reports whether signs of mathematics or of programs outweigh cells: aligned equations,
// and listings in a font of letters of different widths.
func isFormula(rows [][]segment) bool {
	signs, cells, programs := 0, 0, 0
	for _, row := range rows {
		isProgram := false
		for i := range row {
			text := row[i].text
			if row[i].math || strings.Trim(text, "=+<>≤≥≠≈·×∑∫() ") == "" {
				signs++
			}
			isProgram = isProgram || strings.ContainsAny(text, ";{}") || strings.Contains(text, "//")
			cells++
		}
		if isProgram {
			programs++
		}
	}
	return 3*signs >= cells || 2*programs >= len(rows)
}

// isColumnwise reports whether the file writes lines one column after the other, as text in columns
// and unlike the rows of a table: at one of the gaps between columns, few cells are followed by the
// next one of their row.
func isColumnwise(rows [][]segment, cols []interval) bool {
	beside, pairs := make([]int, len(cols)), make([]int, len(cols))
	for _, row := range rows {
		for i := range row[1:] {
			c := columnOf(cols, row[i+1])
			if c < 0 {
				continue
			}
			pairs[c]++
			if n := row[i+1].from - row[i].to; n > 0 && n <= besideWords {
				beside[c]++
			}
		}
	}
	for c := range cols {
		if pairs[c] >= 2 && 2*beside[c] < pairs[c] {
			return true
		}
	}
	return false
}

// isRagged reports whether the cells of a column begin, end and have their middle at different
// places: blanks of justified text that happen to stand above each other.
func isRagged(rows [][]segment, cols []interval) bool {
	for c := range cols {
		var lefts, rights, middles []float64
		for _, row := range rows {
			for i := range row {
				if s := &row[i]; columnOf(cols, *s) == c {
					lefts, rights, middles = append(lefts, s.Left), append(rights, s.Right),
						append(middles, (s.Left+s.Right)/2)
				}
			}
		}
		if len(lefts) >= 2 && !mostNear(lefts) && !mostNear(rights) && !mostNear(middles) {
			return true
		}
	}
	return false
}

// mostNear reports whether two thirds of places are the same.
func mostNear(places []float64) bool {
	slices.Sort(places)
	best := 0
	for from, to := 0, 0; to < len(places); to++ {
		for places[to]-places[from] > 2*tolerance {
			from++
		}
		best = max(best, to-from+1)
	}
	return 3*best >= 2*len(places)
}

// isFilled reports whether most lines here and near by, from the first to the last word, begin and
// end at the same places although their blanks do not stand above each other: justified text.
func isFilled(rows [][]segment, at, end int) bool {
	var list []segment
	single := 0
	for i := max(0, at-filledLines); i < min(len(rows), end+filledLines); i++ {
		row := rows[i]
		s := row[0]
		s.Box = s.union(row[len(row)-1].Box)
		for _, o := range row[1:] {
			s.text += " " + o.text
		}
		if len(row) == 1 {
			single++
		}
		list = append(list, s)
	}
	return 4*single >= len(list) && isJustified(list)
}

// isDivided reports whether a text ends inside a word.
func isDivided(text string) bool {
	before, found := strings.CutSuffix(strings.ReplaceAll(strings.ReplaceAll(text, "\u2010", "-"), "\u00ad", "-"), "-")
	return found && strings.IndexFunc(lastRune(before), unicode.IsLetter) == 0
}

func lastRune(s string) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i]&0xC0 != 0x80 {
			return s[i:]
		}
	}
	return s
}

// Words that captions begin with, before a number.
var (
	tableWords  = []string{"table", "tab.", "tabelle", "tableau", "tabla", "表"}
	figureWords = []string{"figure", "fig.", "abbildung", "abb.", "figura", "bild", "图", "圖"}
)

// isCaption reports whether a line begins with one of words and a number.
func isCaption(text string, words []string) bool {
	lower := strings.ToLower(text[:min(len(text), 32)])
	for _, w := range words {
		rest, ok := strings.CutPrefix(lower, w)
		if !ok {
			continue
		}
		number := strings.TrimLeft(rest, " \u00a0")
		end := strings.IndexAny(number, " .:)")
		if end < 0 {
			end = len(number)
		}
		if strings.ContainsAny(number[:end], "0123456789一二三四五六七八九十") ||
			end > 0 && strings.Trim(number[:end], "ivx") == "" {
			return true
		}
	}
	return false
}
