package document

import (
	"errors"
	"strconv"
	"strings"
)

// pptx reads the slides in presentation order, each with its notes.
func (o *office) pptx(main string, out *page) error {
	list, err := o.relations(main)
	if err != nil {
		return err
	}
	targets := map[string]string{}
	for _, r := range list {
		targets[r.id] = r.target
	}
	var slides []string
	err = o.walk(main, func(e *element) error {
		if e.begins && e.name == "sldId" {
			if len(slides) == o.limits.Parts {
				return exceeded(LimitParts, o.limits.Parts, "slides")
			}
			slides = append(slides, targets[e.related()])
		}
		return nil
	})
	if err != nil {
		return err
	}
	retained := o.retained
	for i, slide := range slides {
		o.retained = retained // the relationships of the previous slide are released
		out.startPage(i + 1)
		out.add(heading, "# ", "Slide "+strconv.Itoa(i+1))
		if err := o.slide(slide, out); err != nil {
			return err
		}
	}
	return nil
}

// slide appends a slide, then its speaker notes.
func (o *office) slide(part string, out *page) error {
	list, err := o.relations(part)
	if err != nil {
		return err
	}
	s := newShapes(out)
	s.targets = map[string]string{}
	for _, r := range list {
		s.targets[r.id] = r.target
	}
	if err := o.walk(part, s.step); err != nil {
		return err
	}
	for _, r := range list {
		if !strings.HasSuffix(r.kind, "/notesSlide") {
			continue
		}
		s := newShapes(out)
		s.lead = "Notes: "
		if err := o.walk(r.target, s.step); err != nil && !errors.Is(err, errNoPart) {
			return err
		}
	}
	return nil
}

// shapes reads a slide or its notes.
type shapes struct {
	*prose
	lead  string // prefix of the first paragraph
	title bool   // the open shape is the title
	skip  bool   // the open shape is a date, a footer or a slide number
}

func newShapes(out *page) *shapes { return &shapes{prose: newProse(out)} }

func (s *shapes) step(e *element) error {
	q := s.para()
	if !e.begins && e.name == "p" && q != nil {
		s.mark(q)
	}
	done, err := s.prose.step(e)
	if done || err != nil || !e.begins {
		return err
	}
	switch q := s.para(); {
	case e.name == "sp":
		s.title, s.skip = false, false
	case e.name == "ph":
		switch e.attr("type") {
		case "title", "ctrTitle":
			s.title = true
		case "dt", "ftr", "sldNum", "hdr", "sldImg":
			s.skip = true
		}
	case q != nil && e.name == "pPr":
		if level, _ := strconv.Atoi(e.attr("lvl")); level > 0 {
			q.kind, q.mark = item, strings.Repeat("  ", min(level, 8))+"- "
		}
	case q != nil && (e.name == "buChar" || e.name == "buAutoNum") && q.kind != item:
		q.kind, q.mark = item, "- "
	}
	return nil
}

// mark sets the kind and the prefix of a paragraph from its shape.
func (s *shapes) mark(q *para) {
	switch {
	case s.skip:
		s.size -= q.text.Len()
		q.text.Reset()
	case s.title:
		q.heading = 2
	case s.lead != "" && strings.TrimSpace(q.text.String()) != "":
		q.mark, s.lead = s.lead+q.mark, ""
	}
}
