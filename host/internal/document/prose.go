package document

import "strings"

// prose reads what docx and pptx have in common: paragraphs of runs, tables, breaks. The elements
// have the same names in both.
type prose struct {
	flow
	open   []*para // paragraphs inside each other: a text box stands in the paragraph that holds it
	size   int     // bytes in them
	text   int     // open elements whose content is text
	silent int     // open elements from one that is not shown; 0 is none
}

// para is an open paragraph.
type para struct {
	text    strings.Builder
	kind    blockKind
	mark    string // what it begins with
	heading int    // 1 and up
	hidden  bool   // the open run is
}

func newProse(out *page) *prose { return &prose{flow: newFlow(out)} }

// para is the innermost open paragraph; nil outside of all.
func (p *prose) para() *para {
	if n := len(p.open); n > 0 {
		return p.open[n-1]
	}
	return nil
}

// notShown are elements whose content is not part of the text: deleted and moved away passages,
// instructions of fields, phonetic guides, what older programs show in place of an alternative.
var notShown = map[string]bool{
	"del": true, "moveFrom": true, "delText": true, "instrText": true, "delInstrText": true, "rt": true, "Fallback": true,
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

// step handles one element. It reports whether there is nothing more in it for the caller.
func (p *prose) step(e *element) (done bool, err error) {
	if p.page.err != nil {
		return true, p.page.err
	}
	if p.silent > 0 || e.begins && notShown[e.name] {
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
		if e.attr("val") == "" && e.attr("pos") == "" { // a tab, not the place of one
			p.write(q, "\t")
		}
	case "noBreakHyphen":
		p.write(q, "-")
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
		return
	}
	if q.heading > 0 {
		q.kind, q.mark = paragraph, strings.Repeat("#", min(q.heading, 6))+" "
		text = words(text)
	}
	p.add(q.kind, q.mark, text)
}

// isOn reads the value of a property that is on when it has none.
func isOn(val string) bool { return val != "0" && val != "false" && val != "off" }
