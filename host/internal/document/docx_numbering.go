package document

import (
	"strconv"
)

// levels is the number of levels of a list in WordprocessingML.
const levels = 9

// numbering is the numbering part of a Word document with its counters. Lists that share a
// definition share its counters, unless one sets its own start.
type numbering struct {
	definitions map[string]*listDefinition // by abstractNumId
	lists       map[string]*wordNumber     // by numId
	styles      map[string]*listDefinition // by the style that uses it; the first counts
}

// listDefinition is an abstract list.
type listDefinition struct {
	levels [levels]listLevel
	link   string // style whose list it uses

	counters [levels]int
	counted  [levels]bool
}

// listLevel is a level of a list.
type listLevel struct {
	start        int
	format, text string
	decimal      bool   // numbers of other levels are decimal too
	restart      int    // the level after which it restarts, from 1; 0 means never, -1 the one above
	style        string // paragraph style that is at this level
}

// wordNumber is a list that paragraphs name.
type wordNumber struct {
	definition string
	starts     [levels]int // numbers that replace those of the definition; -1 for none
	own        [levels]*listLevel
	used       [levels]bool
}

func newListLevel() listLevel { return listLevel{start: 0, format: "decimal", restart: -1} }

// wordNumbering reads the numbering part.
func (o *office) wordNumbering(part string) (*numbering, error) {
	n := &numbering{
		definitions: map[string]*listDefinition{}, lists: map[string]*wordNumber{},
		styles: map[string]*listDefinition{},
	}
	r := numberingReader{numbering: n, office: o}
	return n, o.walk(part, r.step)
}

// numberingReader reads the numbering part.
type numberingReader struct {
	numbering  *numbering
	office     *office
	definition *listDefinition
	list       *wordNumber
	level      *listLevel
	at         int // level of an open override
}

func (r *numberingReader) step(e *element) error {
	if !e.begins {
		switch e.name {
		case "abstractNum":
			r.definition, r.level = nil, nil
		case "num":
			r.list, r.level = nil, nil
		case "lvl":
			r.level = nil
		}
		return nil
	}
	switch e.name {
	case "abstractNum":
		r.definition = &listDefinition{}
		for i := range r.definition.levels {
			r.definition.levels[i] = newListLevel()
		}
		r.numbering.definitions[e.attr("abstractNumId")] = r.definition
		return r.office.retain(levels * overhead)
	case "num":
		r.list = &wordNumber{}
		for i := range r.list.starts {
			r.list.starts[i] = -1
		}
		r.numbering.lists[e.attr("numId")] = r.list
		return r.office.retain(levels * overhead)
	case "numStyleLink":
		if r.definition != nil {
			r.definition.link = e.attr("val")
		}
	case "styleLink":
		if r.definition != nil {
			if style := e.attr("val"); r.numbering.styles[style] == nil {
				r.numbering.styles[style] = r.definition
			}
		}
	case "abstractNumId":
		if r.list != nil {
			r.list.definition = e.attr("val")
		}
	case "lvlOverride":
		r.at = levelAt(e.attr("ilvl"))
	case "startOverride":
		if r.list != nil {
			r.list.starts[r.at] = number(e.attr("val"))
		}
	case "lvl":
		r.beginLevel(levelAt(e.attr("ilvl")))
	}
	return r.property(e)
}

func (r *numberingReader) beginLevel(at int) {
	switch {
	case r.list != nil:
		l := newListLevel()
		r.list.own[at], r.level = &l, &l
	case r.definition != nil:
		r.level = &r.definition.levels[at]
	}
}

// property sets a property of the open level.
func (r *numberingReader) property(e *element) error {
	l, val := r.level, e.attr("val")
	if l == nil {
		return nil
	}
	switch e.name {
	case "start":
		l.start = number(val)
	case "numFmt":
		l.format = val
	case "lvlText":
		l.text = val[:min(len(val), 200)]
		return r.office.retain(len(l.text))
	case "isLgl":
		l.decimal = isOn(val)
	case "lvlRestart":
		l.restart = number(val)
	case "pStyle":
		l.style = val
	}
	return nil
}

func levelAt(val string) int {
	n, _ := strconv.Atoi(val) // an invalid number means the first level
	return min(max(n, 0), levels-1)
}

func number(val string) int {
	n, _ := strconv.Atoi(val) // an invalid number means 0
	return min(max(n, 0), 1<<30)
}

// levelOf returns the level of a list to which a paragraph style belongs.
func (n *numbering) levelOf(num, style string) string {
	_, d := n.find(num)
	if d == nil || style == "" {
		return ""
	}
	for i := range d.levels {
		if d.levels[i].style == style {
			return strconv.Itoa(i)
		}
	}
	return ""
}

// find returns a list and its definition, which may be that of a style.
func (n *numbering) find(num string) (*wordNumber, *listDefinition) {
	if n == nil || n.lists[num] == nil {
		return nil, nil
	}
	list := n.lists[num]
	d := n.definitions[list.definition]
	if d != nil && d.link != "" {
		if other := n.styles[d.link]; other != nil {
			return list, other
		}
	}
	return list, d
}

// next counts a paragraph of a list and returns its displayed number, "" for a bullet. ok is false
// for an unknown list.
func (n *numbering) next(num string, at int) (shown string, ok bool) {
	list, d := n.find(num)
	if d == nil {
		return "", false
	}
	level := func(i int) *listLevel {
		if own := list.own[i]; own != nil {
			return own
		}
		return &d.levels[i]
	}
	start := func(i int) int {
		if list.starts[i] >= 0 {
			return list.starts[i]
		}
		return level(i).start
	}
	if fresh := list.starts[at] >= 0 && !list.used[at]; fresh || !d.counted[at] {
		d.counters[at] = start(at)
	} else {
		d.counters[at]++
	}
	list.used[at], d.counted[at] = true, true
	for i := at + 1; i < levels; i++ {
		if r := level(i).restart; r < 0 || r > at {
			d.counted[i] = false
		}
	}
	return d.shown(at, level, start), true
}
