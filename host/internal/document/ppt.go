package document

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
)

// Types of records of a presentation.
const (
	pptSlide      = 0x03EE
	pptSlideAtom  = 0x03EF
	pptNotes      = 0x03F0
	pptPersist    = 0x03F3
	pptHolder     = 0x0BC3
	pptShape      = 0xF004
	pptOutlineRef = 0x0F9E
	pptTextKind   = 0x0F9F
	pptChars      = 0x0FA0
	pptBytes      = 0x0FA8
	pptList       = 0x0FF0
	pptEdit       = 0x0FF5
	pptDirectory  = 0x1772
)

// ppt reads the slides of PowerPoint 97 to 2003 in their order, each with its notes.
//
// Source: [MS-PPT].
func (o *office) ppt(c *compound, out *page) error {
	user, _, err := c.stream(0, "Current User")
	if err != nil {
		return err
	}
	data, _, err := c.stream(0, "PowerPoint Document")
	if err != nil {
		return err
	}
	if len(user) < 20 || len(data) < 8 {
		return fmt.Errorf("%w: it ends in the middle", ErrDamaged)
	}
	if u32(user[12:]) == 0xF3D1C4DF {
		return ErrEncrypted
	}
	p := &oldSlides{office: o, out: out, data: data, places: map[int]int{}, notes: map[int]int{}}
	document, err := p.directory(u32(user[16:]))
	if err != nil {
		return err
	}
	return p.read(document)
}

// oldSlides is the state of reading a presentation.
type oldSlides struct {
	office  *office
	out     *page
	data    []byte
	places  map[int]int // of objects in data, by their IDs
	notes   map[int]int // objects of notes, by the IDs that slides name
	lead    string      // prefix of the first paragraph of notes
	inNotes bool
	holder  byte // kind of the placeholder that the open shape is; 0 for none
}

// oldSlide is a slide as the document lists it.
type oldSlide struct {
	object int
	id     int
	texts  []oldText // of its placeholders
}

// oldText is a text with its kind.
type oldText struct {
	kind int
	text string
}

// pptRecord is a record in a container.
type pptRecord struct {
	typ, instance int
	data          []byte
}

// record returns the record at a place.
func (p *oldSlides) record(at int) (r pptRecord, ok bool) {
	if at < 0 || at > len(p.data)-8 {
		return r, false
	}
	return firstRecord(p.data[at:])
}

func firstRecord(d []byte) (r pptRecord, ok bool) {
	if len(d) < 8 || u32(d[4:]) > len(d)-8 {
		return r, false
	}
	return pptRecord{u16(d[2:]), u16(d) >> 4, d[8 : 8+u32(d[4:])]}, true
}

// each calls visit for the records of a container.
func (p *oldSlides) each(d []byte, visit func(r pptRecord) error) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && p.office.ctx.Err() != nil {
			return p.office.ctx.Err()
		}
		r, ok := firstRecord(d)
		if !ok {
			return nil
		}
		if err := visit(r); err != nil {
			return err
		}
		d = d[8+len(r.data):]
	}
}

// directory reads where objects are, from the newest save to the oldest, and returns the document.
func (p *oldSlides) directory(edit int) (document []byte, err error) {
	id := 0
	for range 1000 { // bounds rings
		r, ok := p.record(edit)
		if !ok || r.typ != pptEdit || len(r.data) < 20 {
			break
		}
		if len(r.data) >= 32 && u32(r.data[28:]) != 0 {
			return nil, ErrEncrypted
		}
		if id == 0 {
			id = u32(r.data[16:])
		}
		if err := p.entries(u32(r.data[12:])); err != nil {
			return nil, err
		}
		if edit = u32(r.data[8:]); edit == 0 {
			break
		}
	}
	place, ok := p.places[id]
	r, found := p.record(place)
	if !ok || !found {
		return nil, fmt.Errorf("%w: its list of slides is missing", ErrDamaged)
	}
	return r.data, nil
}

// entries reads a directory; entries of a newer one stay.
func (p *oldSlides) entries(at int) error {
	r, ok := p.record(at)
	if !ok || r.typ != pptDirectory {
		return nil
	}
	for d := r.data; len(d) >= 4; {
		id, n := u32(d)&(1<<20-1), u32(d)>>20
		for d = d[4:]; n > 0 && len(d) >= 4; n, d, id = n-1, d[4:], id+1 {
			if _, newer := p.places[id]; !newer {
				p.places[id] = u32(d)
				if err := p.office.retain(0); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// read reads the lists of slides and of notes, then the slides.
func (p *oldSlides) read(document []byte) error {
	var slides []oldSlide
	err := p.each(document, func(r pptRecord) error {
		const listOfSlides, listOfNotes = 0, 2
		if r.typ != pptList || r.instance != listOfSlides && r.instance != listOfNotes {
			return nil
		}
		list, err := p.list(r.data)
		if r.instance == listOfSlides {
			slides = list
			return err
		}
		for _, n := range list {
			p.notes[n.id] = n.object
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, s := range slides {
		p.out.startPage(i + 1)
		p.out.add(heading, "# ", "Slide "+strconv.Itoa(i+1))
		if err := p.slide(s); err != nil {
			return err
		}
	}
	return p.out.err
}

// list reads the slides of a list with the texts that follow each.
func (p *oldSlides) list(d []byte) (slides []oldSlide, err error) {
	kind := 0
	err = p.each(d, func(r pptRecord) error {
		switch {
		case r.typ == pptPersist && len(r.data) >= 16:
			if len(slides) == p.office.limits.Parts {
				return exceeded(LimitParts, p.office.limits.Parts, "slides")
			}
			slides = append(slides, oldSlide{object: u32(r.data), id: u32(r.data[12:])})
			return p.office.retain(0)
		case len(slides) == 0:
		case r.typ == pptTextKind && len(r.data) >= 4:
			kind = u32(r.data)
			last := &slides[len(slides)-1]
			last.texts = append(last.texts, oldText{kind: kind})
			return p.office.retain(0)
		default:
			last := &slides[len(slides)-1]
			if text, ok := pptText(r); ok && len(last.texts) > 0 {
				last.texts[len(last.texts)-1].text = text
				return p.office.retain(len(text))
			}
		}
		return nil
	})
	return slides, err
}

// pptText returns the text of a record.
func pptText(r pptRecord) (text string, ok bool) {
	switch r.typ {
	case pptChars:
		return utf16Text(r.data), true
	case pptBytes:
		return decodeCodePage(28591, r.data), true
	}
	return "", false
}

// slide adds a slide with its notes.
func (p *oldSlides) slide(s oldSlide) error {
	r, ok := p.record(p.places[s.object])
	if !ok || r.typ != pptSlide {
		return fmt.Errorf("%w: a slide is missing", ErrDamaged)
	}
	notes := 0
	if err := p.shapes(r.data, s.texts, 0, &notes); err != nil {
		return err
	}
	r, ok = p.record(p.places[p.notes[notes]])
	if notes == 0 || !ok || r.typ != pptNotes {
		return nil
	}
	p.lead, p.inNotes = "Notes: ", true
	defer func() { p.lead, p.inNotes = "", false }()
	return p.shapes(r.data, nil, 0, &notes)
}

// shapes adds the texts of the shapes in a container. notes is set to the notes of the slide.
func (p *oldSlides) shapes(d []byte, texts []oldText, depth int, notes *int) error {
	const isContainer, other = 0xF, 4
	if depth > 64 {
		return exceeded(LimitDepth, 64, "shapes inside each other")
	}
	kind := other
	for at := d; ; {
		r, ok := firstRecord(at)
		if !ok {
			return p.out.err
		}
		version := u16(at) & 0xF
		at = at[8+len(r.data):]
		text, isText := pptText(r)
		switch {
		case r.typ == pptSlideAtom && len(r.data) >= 20:
			*notes = u32(r.data[16:])
		case r.typ == pptTextKind && len(r.data) >= 4:
			kind = u32(r.data)
		case r.typ == pptOutlineRef && len(r.data) >= 4 && u32(r.data) < len(texts):
			t := texts[u32(r.data)]
			p.add(t.kind, t.text)
		case isText:
			p.add(kind, text)
		case r.typ == pptHolder && len(r.data) >= 5:
			p.holder = r.data[4]
		case r.typ == pptShape:
			p.holder = 0
			if err := p.shapes(r.data, texts, depth+1, notes); err != nil {
				return err
			}
		case version == isContainer:
			if err := p.shapes(r.data, texts, depth+1, notes); err != nil {
				return err
			}
		}
		if p.out.err != nil {
			return p.out.err
		}
	}
}

// add adds the paragraphs of a text.
func (p *oldSlides) add(kind int, text string) {
	const title, body, notes, centeredTitle, halfBody, quarterBody = 0, 1, 2, 6, 7, 8
	const holdsTitle, holdsBody, holdsCenteredTitle = 13, 14, 15
	const other = 4
	if kind == other && (p.holder == holdsTitle || p.holder == holdsCenteredTitle) {
		kind = title
	} else if kind == other && p.holder == holdsBody {
		kind = body
	}
	if text = strings.Trim(text, "\x00"); strings.TrimSpace(text) == "*" || p.inNotes && kind != notes {
		return // a date or a number of a page, or a picture of the slide
	}
	for line := range strings.SplitSeq(text, "\r") {
		line = strings.TrimSpace(strings.ReplaceAll(line, "\v", "\n"))
		switch {
		case line == "":
		case kind == title || kind == centeredTitle:
			p.out.add(heading, "## ", block.Line(line))
		case kind == body || kind == halfBody || kind == quarterBody:
			p.out.add(item, "- ", block.Line(line))
		default:
			p.out.add(paragraph, p.lead, line)
			p.lead = ""
		}
	}
	p.out.gap()
}
