package document

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
)

// The parts of an OpenDocument file.
const (
	odfContent = "content.xml"
	odfStyles  = "styles.xml"
)

// odf reads a text, a spreadsheet or a presentation in the OpenDocument format.
//
// Source: OASIS OpenDocument 1.3 part 3.
func (o *office) odf(out *page) error {
	if o.parts["encrypted-package"] != nil {
		return ErrEncrypted
	}
	err := o.unpack("meta-inf/manifest.xml", func(r io.Reader) error {
		return scanTags(o, r, "encryption-data", func([]byte) error { return ErrEncrypted })
	})
	switch {
	case errors.Is(err, ErrEncrypted):
		return ErrEncrypted
	case err != nil && !errors.Is(err, errNoPart):
		return err
	}
	d := newODF(o, out)
	if err := o.walk(odfStyles, d.step); err != nil && !errors.Is(err, errNoPart) {
		return err
	}
	if err := o.walk(odfContent, d.step); err != nil {
		return err
	}
	d.flushCode()
	return out.err
}

// flatODF reads an OpenDocument file that is one XML file.
func flatODF(ctx context.Context, limits *Limits, data []byte, work int64, out *page) error {
	o := &office{ctx: ctx, limits: limits, remaining: limits.Unpacked, work: work}
	d := newODF(o, out)
	if err := o.steps(bytes.NewReader(data), d.step); err != nil {
		if errors.Is(err, ErrLimit) || errors.Is(err, ErrDamaged) || ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	d.flushCode()
	return out.err
}

// isFlatODF reports whether a file begins as an OpenDocument file that is one XML file.
func isFlatODF(head string) bool {
	return strings.HasPrefix(strings.TrimPrefix(head, "\uFEFF"), "<?xml") &&
		strings.Contains(head, "<office:document ") && strings.Contains(head, "urn:oasis:names:tc:opendocument")
}

// odfReader is the state of reading an OpenDocument file.
type odfReader struct {
	*prose
	office *office
	styles map[string]odfStyle
	lists  map[string]*listDefinition // by style; the outline of headings is ""
	style  string                     // under definition
	list   string                     // under definition
	within map[string]int             // open elements of the names that matter

	open    []odfList
	unseen  int // depth inside hidden text
	masters int // depth inside an element whose content is not part of the document

	note  []odfNote // open notes
	notes int

	slide   int
	class   string // of the open frame of a slide
	lead    string // prefix of the first paragraph of notes
	repeats []int  // of the open cells
	isHead  bool   // the open rows name columns
	sheet   *odfSheet
}

// odfStyle is the part of a paragraph style that affects the text.
type odfStyle struct {
	parent, list string
	heading      int
	code         bool
	hidden       bool // of text
}

// odfList is an open list.
type odfList struct {
	style    string
	numbered bool // the open item has a number
	shown    bool // its first paragraph was written
	start    int  // number of the open item; -1 for the next
}

// odfNote is an open note, with the paragraph that refers to it.
type odfNote struct {
	of   *para
	text strings.Builder
}

func newODF(o *office, out *page) *odfReader {
	d := &odfReader{
		prose: newProse(out), office: o, styles: map[string]odfStyle{}, lists: map[string]*listDefinition{},
		within: map[string]int{},
	}
	return d
}

// odfSkipped are elements whose content is not shown, or is shown on each page.
var odfSkipped = map[string]bool{
	"tracked-changes": true, "annotation": true, "master-styles": true, "meta": true, "settings": true,
	"scripts": true, "font-face-decls": true, "forms": true, "ruby-text": true, "binary-data": true,
	"content-validations": true, "hidden-text": true, "hidden-paragraph": true, "shapes": true,
	"index-title-template": true, "table-of-content-source": true, "sequence-decls": true, "named-expressions": true,
	"database-ranges": true, "note-citation": true, "dde-links": true, "eve" +
		"nt-listeners": true, "calculation-settings": true,
}

func (d *odfReader) step(e *element) error {
	if d.page.err != nil {
		return d.page.err
	}
	switch {
	case d.masters > 0 || e.begins && odfSkipped[e.name]:
		if e.begins {
			d.masters++
		} else if e.name != "" {
			d.masters--
		}
		return nil
	case e.name == "":
		d.text(e.text)
		return nil
	case e.begins:
		return d.begin(e)
	}
	return d.end(e)
}

// text adds text of a paragraph with its blanks as one.
func (d *odfReader) text(text string) {
	q := d.para()
	if q == nil || d.unseen > 0 {
		return
	}
	var b strings.Builder
	n := q.text.Len()
	blank := n == 0 || q.text.text[n-1] == ' '
	for _, r := range text {
		if r == ' ' || r == '\t' || r == '\n' || r == '\r' {
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
			continue
		}
		blank = false
		b.WriteRune(r)
	}
	d.write(q, b.String())
}

func (d *odfReader) begin(e *element) error {
	q := d.para()
	switch e.name {
	case "h", "p":
		d.beginParagraph(e)
	case "list", "list-item", "list-header":
		d.beginList(e)
	case "note":
		if q != nil && len(d.note) < maxFields {
			d.note = append(d.note, odfNote{of: q})
		}
	case "title", "desc":
		d.within[e.name]++
		d.prose.open = append(d.prose.open, &para{kind: noBlock}) // its text describes a picture
	case "page":
		d.slide++
		d.page.startPage(d.slide)
		d.page.add(heading, "# ", "Slide "+strconv.Itoa(d.slide))
	case "notes":
		d.lead = "Notes: "
	case "frame", "custom-shape":
		d.class, d.describe = e.attr("class"), ""
	case "image":
		d.image(e, q)
	case "style", "list-style", "outline-style", "list-level-style-number", "list-level-style-bullet",
		"outline-level-style", "text-properties":
		return d.beginStyle(e)
	case "spreadsheet":
		d.within[e.name]++
	case "table", "table-row", "table-cell", "covered-table-cell", "table-header-rows":
		return d.beginTablePart(e)
	}
	if q == nil {
		return nil
	}
	switch e.name {
	case "s":
		n, _ := strconv.Atoi(e.attr("c")) // one if it is missing
		d.write(q, strings.Repeat(" ", min(max(n, 1), 1000)))
	case "tab":
		d.write(q, "\t")
	case "line-break":
		d.write(q, "\n")
	case "a":
		q.text.begin(e.attr("href"))
	case "span":
		if d.unseen > 0 || d.styles[e.attr("style-name")].hidden {
			d.unseen++
		}
	}
	return nil
}

func (d *odfReader) image(e *element, q *para) {
	source := strings.TrimPrefix(e.attr("href"), "./")
	switch {
	case q == nil && d.openCell() == nil && source != "":
		d.page.picture(source, d.describe)
	case q != nil && len(q.images) < maxImages && source != "":
		q.images = append(q.images, picture{source, d.describe})
	}
}

func (d *odfReader) end(e *element) error {
	q := d.para()
	switch e.name {
	case "h", "p":
		if q != nil {
			d.endParagraph(q)
		}
	case "title", "desc":
		if d.within[e.name] > 0 && q != nil {
			d.within[e.name]--
			d.prose.open = d.prose.open[:len(d.prose.open)-1]
			d.size -= q.text.Len()
			d.describe = strings.TrimSpace(q.text.String())
			d.describeLast()
		}
	case "a":
		if q != nil {
			q.text.end()
		}
	case "span":
		d.unseen = max(d.unseen-1, 0)
	case "list":
		d.open = d.open[:max(len(d.open)-1, 0)]
	case "note":
		d.endNote()
	case "style":
		d.style = ""
	case "list-style", "outline-style":
		d.list = ""
	case "table", "table-row", "table-cell", "table-header-rows":
		return d.endTablePart(e)
	}
	return nil
}

// describeLast sets the description of a picture that came before it.
func (d *odfReader) describeLast() {
	if q := d.para(); q != nil && len(q.images) > 0 && q.images[len(q.images)-1].description == "" {
		q.images[len(q.images)-1].description = d.describe
	}
}

func (d *odfReader) beginParagraph(e *element) {
	q := &para{kind: paragraph}
	if e.name == "h" {
		level, _ := strconv.Atoi(e.attr("outline-level")) // 1 if it is missing
		q.heading = min(max(level, 1), 9)
	}
	id := e.attr("style-name")
	for range 16 { // bounds cycles of parents
		s, ok := d.styles[id]
		if s.code {
			q.kind = code
		}
		q.heading = cmp.Or(q.heading, s.heading)
		if !ok {
			break
		}
		id = s.parent
	}
	d.prose.open = append(d.prose.open, q)
}

func (d *odfReader) endParagraph(q *para) {
	d.prose.open = d.prose.open[:len(d.prose.open)-1]
	if n := len(d.note); n > 0 && d.note[n-1].of != q {
		d.size -= q.text.Len()
		q.text.end()
		d.note[n-1].text.WriteString(q.text.String() + " ")
		return
	}
	switch d.class {
	case "title":
		q.heading = 2
	case "date-time", "footer", "page-number", "header", "page":
		d.size -= q.text.Len()
		return
	}
	if d.sheet != nil {
		d.size -= q.text.Len()
		q.text.end()
		d.sheet.text(q.text.String())
		return
	}
	d.number(q)
	if text := strings.TrimSpace(q.text.String()); d.lead != "" && text != "" {
		q.mark, d.lead = d.lead+q.mark, ""
	}
	d.show(q)
}

// endNote adds the text of a note to the paragraph that refers to it.
func (d *odfReader) endNote() {
	n := len(d.note)
	if n == 0 {
		return
	}
	note := &d.note[n-1]
	d.note = d.note[:n-1]
	text := block.Line(note.text.String())
	if text == "" {
		return
	}
	d.notes++
	mark := "[^f" + strconv.Itoa(d.notes) + "]"
	d.write(note.of, mark)
	d.size += len(text)
	note.of.notes = append(note.of.notes, mark+": "+text)
}
