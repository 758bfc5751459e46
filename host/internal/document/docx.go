package document

import (
	"errors"
	"strconv"
	"strings"
)

// docx reads the body of a Word document, then its footnotes and endnotes.
func (o *office) docx(main string, out *page) error {
	list, err := o.relations(main)
	if err != nil {
		return err
	}
	styles, targets := map[string]wordStyle{}, map[string]string{}
	for _, r := range list {
		targets[r.id] = r.target
		if strings.HasSuffix(r.kind, "/styles") {
			if styles, err = o.wordStyles(r.target); err != nil && !errors.Is(err, errNoPart) {
				return err
			}
		}
	}
	w := &word{prose: newProse(out), styles: styles}
	w.targets = targets
	if err := o.walk(main, w.step); err != nil {
		return err
	}
	for _, kind := range []string{"/footnotes", "/endnotes"} {
		for _, r := range list {
			if !strings.HasSuffix(r.kind, kind) {
				continue
			}
			w := &word{prose: newProse(out), styles: styles, notes: kind[1:2]}
			if err := o.walk(r.target, w.step); err != nil && !errors.Is(err, errNoPart) {
				return err
			}
		}
	}
	return nil
}

// wordStyle is the part of a paragraph style that affects the text.
type wordStyle struct {
	basedOn string
	heading int // 1 and up; -1 if the style declares that it is not a heading
	list    bool
}

// word reads a part of a Word document that has paragraphs.
type word struct {
	*prose
	styles map[string]wordStyle
	notes  string // "f" in the footnotes part, "e" in the endnotes part
	note   string // mark of the open note, until its first paragraph
}

func (w *word) step(e *element) error {
	done, err := w.prose.step(e)
	if done || err != nil || !e.begins {
		return err
	}
	q := w.para()
	switch e.name {
	case "footnote", "endnote":
		// Separator lines above the notes are stored as notes with a type.
		if w.note = ""; e.attr("type") == "" || e.attr("type") == "normal" {
			w.note = "[^" + w.notes + e.attr("id") + "]: "
		}
	case "p":
		q.mark, w.note = w.note, ""
	}
	if q == nil {
		return nil
	}
	switch e.name {
	case "pStyle":
		w.style(q, e.attr("val"))
	case "outlineLvl":
		q.heading = outline(e.attr("val"))
	case "numId":
		if e.attr("val") == "0" {
			q.kind, q.mark = paragraph, ""
		} else if q.kind != item {
			q.kind, q.mark = item, "- "
		}
	case "ilvl":
		level, _ := strconv.Atoi(e.attr("val")) // an invalid number means the first level
		q.kind, q.mark = item, strings.Repeat("  ", min(max(level, 0), 8))+"- "
	case "footnoteReference":
		w.write(q, "[^f"+e.attr("id")+"]")
	case "endnoteReference":
		w.write(q, "[^e"+e.attr("id")+"]")
	}
	return nil
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
		case e.begins && e.name == "basedOn":
			s.basedOn = e.attr("val")
		case e.begins && e.name == "outlineLvl" && s.heading == 0:
			s.heading = outline(e.attr("val"))
		case e.begins && e.name == "numId":
			s.list = e.attr("val") != "0"
		}
		return nil
	})
	return styles, err
}
