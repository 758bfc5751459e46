package document

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// mergedCells are the ranges of a sheet that are one cell.
type mergedCells struct {
	list []mergedRange // by their first row
	next int           // the first of list that begins below the open row
	open []mergedRange // that reach into the open row
}

// mergedRange is a range of cells, with 0-based columns and rows from 1.
type mergedRange struct {
	top, left, bottom, right int
	text                     string // of its first cell
	shown                    bool   // a row of it was written
}

// maxMergedColumns bounds the columns in which the text of a merged cell is repeated: a title may
// reach over the whole sheet.
const maxMergedColumns = 256

// mergedCells reads the ranges of a sheet. They are stored after its rows, so the part is unpacked
// twice; the search for them is far cheaper than parsing.
func (o *office) mergedCells(part string, out *mergedCells) error {
	remaining := o.remaining
	err := o.unpack(part, func(r io.Reader) error {
		return scanTags(o, r, "mergeCell", func(tag []byte) error {
			m, ok := rangeOf(attributeOf(tag, "ref"))
			if !ok {
				return nil
			}
			out.list = append(out.list, m)
			return o.retain(0)
		})
	})
	o.remaining = remaining // the bytes count when the rows are read
	out.sort()
	return err
}

// sort puts the ranges in the order of their rows.
func (m *mergedCells) sort() {
	slices.SortStableFunc(m.list, func(a, b mergedRange) int { return a.top - b.top })
}

// scanTags calls visit with each tag of a name, without parsing the text between them.
func scanTags(o *office, r io.Reader, name string, visit func(tag []byte) error) error {
	const maxTag = 1 << 10
	buf := make([]byte, 0, 64<<10)
	mark := []byte(name + " ")
	for {
		if o.ctx.Err() != nil {
			return o.ctx.Err()
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		rest := buf
		for {
			at := bytes.Index(rest, mark)
			if at < 0 {
				rest = rest[max(0, len(rest)-len(mark)):]
				break
			}
			end := bytes.IndexByte(rest[at:], '>')
			if end < 0 {
				if rest = rest[at:]; len(rest) > maxTag {
					rest = rest[len(mark):]
					continue
				}
				break
			}
			if at > 0 && (rest[at-1] == '<' || rest[at-1] == ':') {
				if err := visit(rest[at : at+end]); err != nil {
					return err
				}
			}
			rest = rest[at+end:]
		}
		if err != nil {
			return nil
		}
		// The byte before a mark is needed too.
		keep := min(len(buf), len(rest)+1)
		buf = append(buf[:0], buf[len(buf)-keep:]...)
	}
}

func attributeOf(tag []byte, name string) string {
	_, rest, ok := strings.Cut(string(tag), " "+name+"=")
	if !ok || rest == "" {
		return ""
	}
	value, _, _ := strings.Cut(rest[1:], rest[:1])
	return value
}

// rangeOf parses a range such as B2:C7.
func rangeOf(ref string) (m mergedRange, ok bool) {
	from, to, ok := strings.Cut(ref, ":")
	if !ok {
		return m, false
	}
	var oks [4]bool
	m.left, oks[0] = columnOf(from)
	m.right, oks[1] = columnOf(to)
	m.top, oks[2] = rowOf(from)
	m.bottom, oks[3] = rowOf(to)
	return m, oks == [4]bool{true, true, true, true} && m.left <= m.right && m.top <= m.bottom
}

// rowOf returns the row of a cell reference: 7 for B7.
func rowOf(name string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimLeft(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	return n, err == nil && n > 0
}

// fill repeats the texts of merged cells in a row, and returns how.
func (m *mergedCells) fill(row int, cells []string) ([]string, []merge) {
	m.open = slices.DeleteFunc(m.open, func(r mergedRange) bool { return r.bottom < row })
	for m.next < len(m.list) && m.list[m.next].top <= row {
		r := m.list[m.next]
		m.next++
		if r.top == row && r.left < len(cells) && cells[r.left] != "" && len(m.open) < maxColumns {
			r.text = cells[r.left]
			r.right = min(r.right, r.left+maxMergedColumns-1)
			m.open = append(m.open, r)
		}
	}
	var merges []merge
	for i := range m.open {
		r := &m.open[i]
		if row > r.top && r.left < len(cells) && cells[r.left] != "" {
			continue // a range that lies
		}
		for len(cells) <= r.right {
			cells = append(cells, "")
		}
		for k := r.left; k <= r.right; k++ {
			cells[k] = r.text
		}
		merges = append(merges, merge{r.left, r.right - r.left + 1, r.shown})
		r.shown = true
	}
	return cells, merges
}
