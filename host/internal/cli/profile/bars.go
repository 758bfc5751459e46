package profile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	barWidth  = 60 // characters for the whole run
	nameWidth = 40 // characters of a name, with its indentation
	mostBars  = 200
)

// The characters of a bar.
const (
	barPath  = '#' // work that the run waited for
	barWork  = '='
	barQueue = '~'
)

// bar is one line of the picture.
type bar struct {
	name        string
	from, until float64
	work        rune
	queues      [][2]float64
}

// writeBars prints all executions and their calls as bars on one time axis: those of a body below
// their container, calls below their execution.
func (p *Profile) writeBars(w io.Writer) error {
	bars := p.bars()
	more := max(0, len(bars)-mostBars)
	bars = bars[:len(bars)-more]
	width := 0
	for i := range bars {
		bars[i].name = shortened(bars[i].name)
		width = max(width, utf8.RuneCountInString(bars[i].name))
	}
	end := fmt.Sprintf("%.3f s", p.Wall)
	fmt.Fprintf(w, "%*s  0%*s\n", width, "", barWidth, end)
	for _, b := range bars {
		fmt.Fprintf(w, "%s%*s |%s| %.3f\n",
			b.name, width-utf8.RuneCountInString(b.name), "", b.draw(p.Wall), b.until-b.from)
	}
	if more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	_, err := fmt.Fprintf(w, "%c on the critical path  %c other work  %c in a queue; seconds at the end of a line\n",
		barPath, barWork, barQueue)
	return err
}

// bars returns the lines of the picture in their order.
func (p *Profile) bars() []bar {
	inner := map[int][]int{}
	for i, s := range p.Steps {
		inner[s.Parent] = append(inner[s.Parent], i)
	}
	for _, list := range inner {
		slices.SortStableFunc(list, func(a, b int) int { return p.Steps[a].before(&p.Steps[b]) })
	}
	var bars []bar
	var add func(parent, depth int)
	add = func(parent, depth int) {
		for _, i := range inner[parent] {
			s := &p.Steps[i]
			bars = append(bars, s.bar(depth))
			for _, c := range s.Calls {
				name := strings.Repeat("  ", depth+c.Depth+1) + c.Kind + " " + c.Name
				bars = append(bars, bar{name: name, from: c.From, until: c.Until, work: barWork})
			}
			add(i, depth+1)
		}
	}
	add(-1, 0)
	return bars
}

// before compares two executions of one body: by element, then by their starts.
func (s *Span) before(other *Span) int {
	return cmp.Or(slices.Compare(s.Items, other.Items), cmp.Compare(s.From, other.From))
}

func (s *Span) bar(depth int) bar {
	name := strings.Repeat("  ", depth) + s.label()
	b := bar{name: name, from: s.From, until: s.Until, work: barWork, queues: s.Queues}
	if s.OnPath {
		b.work = barPath
	}
	return b
}

// label returns the name of an execution with the index of its element, from 0.
func (s *Span) label() string {
	if n := len(s.Items); n > 0 {
		return fmt.Sprintf("[%d] %s", s.Items[n-1], s.Node)
	}
	return s.Node
}

// draw returns the bar on an axis of the length of the run.
func (b *bar) draw(wall float64) string {
	line := []rune(strings.Repeat(" ", barWidth))
	scale := barWidth / max(wall, 1e-6) // events have microseconds
	fill := func(from, until float64, with rune) {
		first := min(max(int(from*scale), 0), barWidth-1)
		last := min(max(int(until*scale), first+1), barWidth)
		for i := first; i < last; i++ {
			line[i] = with
		}
	}
	fill(b.from, b.until, b.work)
	for _, q := range b.queues {
		fill(q[0], q[1], barQueue)
	}
	return string(line)
}

// shortened cuts a name that is too wide in its middle: its end distinguishes nodes of one kind.
func shortened(name string) string {
	r := []rune(name)
	if len(r) <= nameWidth {
		return name
	}
	return string(r[:nameWidth/2]) + "..." + string(r[len(r)-nameWidth/2+3:])
}
