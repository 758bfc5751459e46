package document

import (
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
)

// prose reads the elements that docx and pptx share under the same names: paragraphs, runs, tables
// and breaks.
type prose struct {
	flow
	open   []*para // nested paragraphs: a text box lies inside a paragraph
	size   int     // bytes in open
	text   int     // depth of open elements whose content is text
	silent int     // depth inside a skipped element; 0 means none

	targets  map[string]string // parts by the ID of their relationship; nil if not needed
	links    map[string]string // addresses by the ID of their relationship
	describe string            // of the open drawing
}

// part returns the name of a related part.
func (p *prose) part(id string) string {
	if name := p.targets[id]; name != "" {
		return name
	}
	return id
}

// para is an open paragraph.
type para struct {
	text    linked
	kind    blockKind
	mark    string // prefix
	number  string // automatic number of a heading
	heading int    // 1 and up
	hidden  bool   // the open run is

	notes []string // texts of the notes that it refers to

	images []picture
}

// picture is an image in a paragraph.
type picture struct{ source, description string }

// maxImages bounds the images of a paragraph.
const maxImages = 100

func newProse(out *page) *prose { return &prose{flow: newFlow(out)} }

// para returns the innermost open paragraph, or nil.
func (p *prose) para() *para {
	if n := len(p.open); n > 0 {
		return p.open[n-1]
	}
	return nil
}

// skipped are elements whose content is skipped: deleted and moved text, field instructions,
// phonetic guides, fallbacks for older programs, and properties before a tracked change.
var skipped = map[string]bool{
	"del": true, "moveFrom": true, "delText": true, "instrText": true, "delInstrText": true, "rt": true,
	"Fallback": true, "pPrChange": true, "rPrChange": true, "tblPrChange": true, "trPrChange": true,
	"tcPrChange": true, "sectPrChange": true, "numberingChange": true,
}

// write adds text to an open paragraph.
func (p *prose) write(q *para, text string) {
	if p.size += len(text); p.size > p.page.block && p.page.err == nil {
		p.page.err = exceeded(LimitBlock, p.page.block, "bytes in one paragraph")
	}
	if p.page.err == nil {
		q.text.text = append(q.text.text, text...)
	}
}

// step handles one element. done reports whether the caller has nothing left to do for it.
func (p *prose) step(e *element) (done bool, err error) {
	if p.page.err != nil {
		return true, p.page.err
	}
	if p.silent > 0 || e.begins && skipped[e.name] {
		if e.begins {
			p.silent++
		} else if e.name != "" {
			p.silent--
		}
		return true, nil
	}
	switch {
	case e.name == "":
		if q := p.para(); p.text > 0 && q != nil && !q.hidden {
			p.write(q, e.text)
		}
	case e.begins:
		p.begin(e)
	default:
		p.end(e)
	}
	return false, nil
}

func (p *prose) begin(e *element) {
	q := p.para()
	switch e.name {
	case "p":
		p.open = append(p.open, &para{kind: paragraph})
	case "t":
		p.text++
	case "tbl":
		p.flushCode()
		p.beginTable()
	case "tc":
		if err := p.page.countCell(); err != nil {
			p.page.err = err
		}
		p.cell(e)
	case "gridSpan", "vMerge", "hMerge", "gridBefore", "tblHeader":
		p.cellProperty(e)
	}
	if q == nil {
		return
	}
	switch e.name {
	case "r":
		q.hidden = false
	case "vanish":
		q.hidden = isOn(e.attr("val"))
	case "br", "cr":
		p.write(q, "\n")
	case "tab":
		if e.attr("val") == "" && e.attr("pos") == "" { // a tab character, not a tab stop
			p.write(q, "\t")
		}
	case "noBreakHyphen":
		p.write(q, "-")
	case "docPr":
		p.describe = e.attr("descr")
	case "blip":
		if len(q.images) < maxImages {
			q.images = append(q.images, picture{e.attr("embed"), p.describe})
		}
		p.describe = ""
	}
}

func (p *prose) end(e *element) {
	switch e.name {
	case "p":
		if q := p.para(); q != nil {
			p.open = p.open[:len(p.open)-1]
			p.show(q)
		}
	case "t":
		p.text = max(0, p.text-1)
	case "tc":
		p.endCell()
	case "tr":
		p.endRow()
	case "tbl":
		p.endTable()
	}
}

// cell begins a cell. In DrawingML its attributes define the columns and rows that it covers.
func (p *prose) cell(e *element) {
	columns, _ := strconv.Atoi(e.attr("gridSpan")) // beginCell takes 0 for 1
	p.beginCell(columns, openEnded)
	if t := p.table(); t != nil {
		t.continues = e.attr("vMerge") != "" && isOn(e.attr("vMerge"))
		t.covered = e.attr("hMerge") != "" && isOn(e.attr("hMerge"))
	}
}

// cellProperty applies a property of a row or of a cell in WordprocessingML.
func (p *prose) cellProperty(e *element) {
	t := p.table()
	if t == nil {
		return
	}
	n, _ := strconv.Atoi(e.attr("val")) // an invalid number covers nothing
	switch {
	case e.name == "tblHeader":
		t.named = isOn(e.attr("val"))
	case e.name == "gridBefore" && !t.open:
		for range min(n, maxSpan) {
			t.cells = append(t.cells, cell{columns: 1, rows: openEnded})
		}
	case !t.open:
	case e.name == "gridSpan":
		t.columns = max(n, 1)
	case e.name == "vMerge":
		t.continues = e.attr("val") != "restart"
	case e.name == "hMerge" && e.attr("val") != "restart" && len(t.cells) > 0:
		t.covered = true
		t.cells[len(t.cells)-1].columns = min(t.cells[len(t.cells)-1].columns+1, maxSpan)
	}
}

func (p *prose) show(q *para) {
	p.size -= q.text.Len()
	q.text.end()
	if q.kind == code && p.openCell() == nil {
		p.addCode(q.text.String())
		return
	}
	text := strings.TrimSpace(q.text.String())
	if text == "" {
		p.pictures(q)
		return
	}
	p.flushCode()
	switch indent := len(q.mark) - len(strings.TrimLeft(q.mark, " ")); {
	case q.heading > 0:
		q.kind, q.mark = heading, strings.Repeat("#", min(q.heading, 6))+" "
		text = block.Line(q.number + " " + text)
	case q.kind == item:
		for _, note := range q.notes {
			text += "\n" + strings.Repeat(" ", indent+2) + note
		}
		q.notes = nil
	case q.kind == paragraph && len(q.notes) > 0:
		text, q.notes = text+"\n"+strings.Join(q.notes, "\n"), nil
	}
	p.add(q.kind, q.mark, text)
	for _, note := range q.notes { // of a heading
		p.add(paragraph, "", note)
	}
	p.pictures(q)
}

// pictures appends the images of a paragraph outside of tables.
func (p *prose) pictures(q *para) {
	if p.openCell() != nil {
		return
	}
	for _, image := range q.images {
		p.page.picture(p.part(image.source), image.description)
	}
}

// isOn returns the value of a boolean property; a missing value means true.
func isOn(val string) bool { return val != "0" && val != "false" && val != "off" }
