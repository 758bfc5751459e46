package document

import (
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
	text    strings.Builder
	kind    blockKind
	mark    string // prefix
	heading int    // 1 and up
	hidden  bool   // the open run is

	images []picture
}

// picture is an image in a paragraph.
type picture struct{ source, description string }

// maxImages bounds the images of a paragraph.
const maxImages = 100

func newProse(out *page) *prose { return &prose{flow: newFlow(out)} }

// para returns the innermost open paragraph, nil if there is none.
func (p *prose) para() *para {
	if n := len(p.open); n > 0 {
		return p.open[n-1]
	}
	return nil
}

// skipped are elements whose content is skipped: deleted and moved text, field instructions,
// phonetic guides, and fallbacks for older programs.
var skipped = map[string]bool{
	"del": true, "moveFrom": true, "delText": true, "instrText": true, "delInstrText": true, "rt": true,
	"Fallback": true,
}

// write adds text to an open paragraph.
func (p *prose) write(q *para, text string) {
	if p.size += len(text); p.size > p.page.block && p.page.err == nil {
		p.page.err = exceeded(LimitBlock, p.page.block, "bytes in one paragraph")
	}
	if p.page.err == nil {
		q.text.WriteString(text)
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
		p.beginTable()
	case "tc":
		if err := p.page.countCell(); err != nil {
			p.page.err = err
		}
		p.beginCell()
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

func (p *prose) show(q *para) {
	p.size -= q.text.Len()
	text := strings.TrimSpace(q.text.String())
	if text == "" {
		p.pictures(q)
		return
	}
	if q.heading > 0 {
		q.kind, q.mark = heading, strings.Repeat("#", min(q.heading, 6))+" "
		text = block.Line(text)
	}
	p.add(q.kind, q.mark, text)
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
