package document

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
)

// docx reads the body of a Word document, with its footnotes and endnotes where they are referred
// to.
func (o *office) docx(main string, out *page) error {
	list, err := o.relations(main)
	if err != nil {
		return err
	}
	w := &word{prose: newProse(out), office: o, styles: map[string]wordStyle{}, notes: map[string]string{}}
	w.targets, w.links = map[string]string{}, map[string]string{}
	for _, r := range list {
		if r.kind == linkKind {
			w.links[r.id] = r.target
			continue
		}
		switch w.targets[r.id] = r.target; {
		case strings.HasSuffix(r.kind, "/styles"):
			w.styles, err = o.wordStyles(r.target)
		case strings.HasSuffix(r.kind, "/numbering"):
			w.numbering, err = o.wordNumbering(r.target)
		}
		if err != nil && !errors.Is(err, errNoPart) {
			return err
		}
	}
	for _, kind := range []string{"/footnotes", "/endnotes"} {
		for _, r := range list {
			if !strings.HasSuffix(r.kind, kind) {
				continue
			}
			if err := o.wordNotes(r.target, kind[1:2], w.notes); err != nil && !errors.Is(err, errNoPart) {
				return err
			}
		}
	}
	if err := o.walk(main, w.step); err != nil {
		return err
	}
	w.flushCode()
	return nil
}

// wordStyle is the part of a paragraph style that affects the text.
type wordStyle struct {
	basedOn string
	heading int // 1 and up; -1 if the style declares that it is not a heading
	list    bool
	num     string // ID of its numbering; "0" for none
	level   string // of its numbering
	code    bool
}

// codeStyles are the names of paragraph styles for code.
var codeStyles = map[string]bool{
	"html preformatted": true, "source code": true, "code": true, "code block": true, "preformatted text": true,
	"macro": true,
}

// word reads the body of a Word document.
type word struct {
	*prose
	office    *office
	styles    map[string]wordStyle
	numbering *numbering
	notes     map[string]string // texts of notes by their mark
	fields    []wordField       // open fields
	instructs bool              // the open text is the instruction of a field
	chart     string            // relationship of the chart in the open paragraph
	lists     []wordList        // of the open paragraphs
}

// wordList is the numbering of a paragraph.
type wordList struct{ style, num, level string }

// wordField is an open field, such as a hyperlink.
type wordField struct {
	instruction strings.Builder
	shown       bool // its result has begun
}

func (w *word) step(e *element) error {
	if w.silent <= 1 && w.field(e) {
		return w.page.err
	}
	if !e.begins && e.name == "p" && len(w.lists) > 0 {
		if q := w.para(); q != nil && w.silent == 0 {
			w.number(q, w.lists[len(w.lists)-1])
		}
		w.lists = w.lists[:len(w.lists)-1]
	}
	done, err := w.prose.step(e)
	if done || err != nil {
		return err
	}
	if !e.begins {
		return w.end(e)
	}
	q := w.para()
	if e.name == "p" {
		w.lists = append(w.lists, wordList{})
	}
	if q == nil || len(w.lists) == 0 {
		return nil
	}
	list := &w.lists[len(w.lists)-1]
	switch e.name {
	case "pStyle":
		list.style = e.attr("val")
		w.style(q, list.style)
	case "outlineLvl":
		q.heading = outline(e.attr("val"))
	case "numId":
		list.num = e.attr("val")
	case "ilvl":
		list.level = e.attr("val")
	case "hyperlink":
		q.text.begin(w.links[e.related()])
	case "chart":
		w.chart = w.targets[e.related()]
	case "footnoteReference":
		w.note(q, "[^f"+e.attr("id")+"]")
	case "endnoteReference":
		w.note(q, "[^e"+e.attr("id")+"]")
	}
	return nil
}

// end handles the end of an element after its text was added.
func (w *word) end(e *element) error {
	switch e.name {
	case "hyperlink":
		if q := w.para(); q != nil {
			q.text.end()
		}
	case "p":
		if part := w.chart; part != "" && w.openCell() == nil {
			w.chart = ""
			return w.office.chart(part, w.page)
		}
	}
	return nil
}

// note writes the mark of a note, whose text follows the paragraph.
func (w *word) note(q *para, mark string) {
	w.write(q, mark)
	if text := w.notes[mark]; text != "" {
		w.size += len(text)
		q.notes = append(q.notes, mark+": "+text)
	}
}

// field handles the elements of fields, and reports whether e is one of them. The instruction of a
// field is text between its beginning and its result.
func (w *word) field(e *element) bool {
	n := len(w.fields)
	switch {
	case e.begins && e.name == "fldSimple":
		if q := w.para(); q != nil {
			q.text.begin(fieldTarget(e.attr("instr")))
		}
	case !e.begins && e.name == "fldSimple":
		if q := w.para(); q != nil {
			q.text.end()
		}
	case e.begins && e.name == "fldChar":
		w.fieldChar(e.attr("fldCharType"))
	case e.name == "" && w.silent == 1 && w.instructs && n > 0 && !w.fields[n-1].shown:
		if in := &w.fields[n-1].instruction; in.Len()+len(e.text) <= 2*maxTarget {
			in.WriteString(e.text)
		}
		return true
	}
	if e.name == "instrText" {
		w.instructs = e.begins
	}
	return false
}

// maxFields bounds the open fields.
const maxFields = 64

func (w *word) fieldChar(typ string) {
	n, q := len(w.fields), w.para()
	switch {
	case typ == "begin" && n < maxFields:
		w.fields = append(w.fields, wordField{})
	case n == 0:
	case typ == "separate" && !w.fields[n-1].shown:
		w.fields[n-1].shown = true
		if target := fieldTarget(w.fields[n-1].instruction.String()); q != nil && target != "" {
			q.text.begin(target)
		}
	case typ == "end":
		if q != nil && fieldTarget(w.fields[n-1].instruction.String()) != "" {
			q.text.end()
		}
		w.fields = w.fields[:n-1]
	}
}

// fieldTarget returns the address of a hyperlink field, "" for other fields.
func fieldTarget(instruction string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(instruction), "HYPERLINK")
	if rest = strings.TrimSpace(rest); !ok || !strings.HasPrefix(rest, `"`) {
		return ""
	}
	target, _, _ := strings.Cut(rest[1:], `"`)
	return target
}

// number sets the kind and the number of a paragraph whose properties are complete.
func (w *word) number(q *para, list wordList) {
	num, level := list.num, list.level
	fromStyle := ""
	id := list.style
	for range 16 { // bounds cycles of base styles
		s, ok := w.styles[id]
		if !ok {
			break
		}
		num, fromStyle = cmp.Or(num, s.num), cmp.Or(fromStyle, s.level)
		id = s.basedOn
	}
	level = cmp.Or(level, w.numbering.levelOf(num, list.style), fromStyle)
	if num == "" || num == "0" {
		if num == "0" && q.kind == item {
			q.kind, q.mark = paragraph, ""
		}
		if list.level == "" || num == "0" {
			return
		}
	}
	at, _ := strconv.Atoi(level) // an invalid number means the first level
	at = min(max(at, 0), levels-1)
	shown, ok := w.numbering.next(num, at)
	switch {
	case q.heading > 0:
		q.number = shown
	case !ok || q.kind != code:
		q.kind, q.mark = item, strings.Repeat("  ", min(at, 8))+itemMark(shown)
	}
}

// style applies the paragraph style id and its base styles to q.
func (w *word) style(q *para, id string) {
	for range 16 { // bounds cycles of base styles
		s, ok := w.styles[id]
		if !ok {
			return
		}
		if q.heading == 0 {
			q.heading = s.heading
		}
		if s.code && q.kind == paragraph {
			q.kind = code
		}
		if s.list && q.kind != item {
			q.kind, q.mark = item, "- "
		}
		id = s.basedOn
	}
}

// outline converts an outline level, 0 to 8, to a heading level. Anything else, such as 9 for body
// text, is -1.
func outline(val string) int {
	n, err := strconv.Atoi(val)
	if err != nil || n < 0 || n > 8 {
		return -1
	}
	return n + 1
}

// wordStyles returns the paragraph styles by ID. Built-in styles have the same names in every
// language, but localized IDs.
func (o *office) wordStyles(part string) (map[string]wordStyle, error) {
	styles := map[string]wordStyle{}
	id, s := "", wordStyle{}
	err := o.walk(part, func(e *element) error {
		switch {
		case e.begins && e.name == "style":
			id, s = e.attr("styleId"), wordStyle{}
		case !e.begins && e.name == "style":
			styles[id] = s
			return o.retain(len(id) + len(s.basedOn))
		case e.begins && e.name == "name":
			name := strings.ToLower(e.attr("val"))
			if level, ok := strings.CutPrefix(name, "heading "); ok {
				s.heading, _ = strconv.Atoi(level) // a name like "heading xyz" is not a heading
			} else if name == "title" {
				s.heading = 1
			}
			s.code = codeStyles[name]
		case e.begins && e.name == "basedOn":
			s.basedOn = e.attr("val")
		case e.begins && e.name == "outlineLvl" && s.heading == 0:
			s.heading = outline(e.attr("val"))
		case e.begins && e.name == "numId":
			s.num = e.attr("val")
			s.list = s.num != "0"
		case e.begins && e.name == "ilvl":
			s.level = e.attr("val")
		}
		return nil
	})
	return styles, err
}

// wordNotes reads the notes of a part into notes; letter distinguishes footnotes from endnotes.
func (o *office) wordNotes(part, letter string, notes map[string]string) error {
	out := newPage(o.limits)
	w := &word{prose: newProse(out), office: o}
	mark := ""
	return o.walk(part, func(e *element) error {
		isNote := e.name == "footnote" || e.name == "endnote"
		switch {
		case isNote && e.begins:
			mark = "[^" + letter + e.attr("id") + "]"
			if typ := e.attr("type"); typ != "" && typ != "normal" { // the line above the notes
				mark = ""
			}
			*out = *newPage(o.limits)
		case isNote:
			w.flushCode()
			text, err := out.result()
			if err != nil {
				return err
			}
			if text = strings.Join(strings.Fields(text), " "); mark != "" && text != "" {
				notes[mark] = text
				return o.retain(len(mark) + len(text))
			}
			return nil
		}
		return w.step(e)
	})
}
