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
	s.office = o
	s.targets, s.links = map[string]string{}, map[string]string{}
	for _, r := range list {
		if r.kind == linkKind {
			s.links[r.id] = r.target
		} else {
			s.targets[r.id] = r.target
		}
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

	office *office // of charts; nil for notes
	counts [9]int  // numbers of the last items, by level
	level  int     // of the open paragraph
	auto   string  // number format of the open paragraph
	start  int     // of its list
}

func newShapes(out *page) *shapes { return &shapes{prose: newProse(out)} }

func (s *shapes) step(e *element) error {
	q := s.para()
	if !e.begins && e.name == "p" && q != nil {
		s.count(q)
		s.mark(q)
	}
	if !e.begins && e.name == "r" && q != nil {
		q.text.end()
	}
	done, err := s.prose.step(e)
	if done || err != nil || !e.begins {
		return err
	}
	switch q := s.para(); {
	case e.name == "sp", e.name == "txBody":
		s.counts = [9]int{}
		if e.name == "sp" {
			s.title, s.skip = false, false
		}
	case e.name == "chart" && s.office != nil && s.targets[e.related()] != "":
		return s.office.chart(s.targets[e.related()], s.page)
	case e.name == "p":
		s.level, s.auto = 0, ""
	case e.name == "ph":
		switch e.attr("type") {
		case "title", "ctrTitle":
			s.title = true
		case "dt", "ftr", "sldNum", "hdr", "sldImg":
			s.skip = true
		}
	case q != nil && e.name == "pPr":
		if s.level = levelAt(e.attr("lvl")); s.level > 0 {
			q.kind, q.mark = item, strings.Repeat("  ", s.level)+"- "
		}
	case q != nil && e.name == "buChar" && q.kind != item:
		q.kind, q.mark = item, "- "
	case q != nil && e.name == "buAutoNum":
		s.auto, s.start = e.attr("type"), max(number(e.attr("startAt")), 1)
	case q != nil && e.name == "hlinkClick":
		q.text.begin(s.links[e.related()])
	}
	return nil
}

// count numbers a paragraph. Text without a number, or of a level above, ends a list.
func (s *shapes) count(q *para) {
	if strings.TrimSpace(q.text.String()) == "" {
		return
	}
	clear(s.counts[min(s.level+1, len(s.counts)):])
	if s.auto == "" {
		s.counts[s.level] = 0
		return
	}
	if s.counts[s.level]++; s.counts[s.level] == 1 {
		s.counts[s.level] = s.start
	}
	shown := slideNumber(s.auto, s.counts[s.level])
	q.kind, q.mark = item, strings.Repeat("  ", s.level)+itemMark(shown)
}

// slideNumber returns n in a numbering scheme of DrawingML, such as alphaLcParenR.
func slideNumber(scheme string, n int) string {
	for _, s := range []struct{ prefix, format string }{
		{"alphaLc", "lowerLetter"},
		{"alphaUc", "upperLetter"},
		{"romanLc", "lowerRoman"},
		{"romanUc", "upperRoman"},
		{"circleNum", "decimalEnclosedCircle"},
		{"ea1Chs", "chineseCounting"},
		{"ea1Cht", "chineseCounting"},
		{"ea1JpnKor", "chineseCounting"},
		{"arabicDb", "decimalFullWidth"},
		{"", "decimal"},
	} {
		end, ok := strings.CutPrefix(scheme, s.prefix)
		if !ok {
			continue
		}
		switch shown := numbered(s.format, n); {
		case strings.HasSuffix(end, "ParenBoth"):
			return "(" + shown + ")"
		case strings.HasSuffix(end, "ParenR"):
			return shown + ")"
		case strings.HasSuffix(end, "Period"):
			return shown + "."
		case strings.HasSuffix(end, "Minus"):
			return shown + "-"
		default:
			return shown
		}
	}
	return ""
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
