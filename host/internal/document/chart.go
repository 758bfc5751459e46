package document

import (
	"cmp"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
)

// chart adds the data of a chart as a table: a row for each category, a column for each series. A
// missing part adds nothing, as a missing picture does.
func (o *office) chart(part string, out *page) error {
	c := &chart{office: o, page: out}
	if err := o.walk(part, c.step); err != nil && !errors.Is(err, errNoPart) {
		return err
	}
	if c.err != nil {
		return c.err
	}
	c.show()
	return out.err
}

// chart is the data of a chart, from the values that the document has cached.
type chart struct {
	office *office
	page   *page
	path   []string
	title  strings.Builder
	series []series
	point  int
	value  strings.Builder
	err    error
}

// series is a series of a chart.
type series struct {
	name               string
	categories, values []string
}

// maxPoints bounds the points of a series, maxSeries the series.
const (
	maxPoints = 10_000
	maxSeries = 256
)

func (c *chart) in(name string) bool {
	for _, p := range c.path {
		if p == name {
			return true
		}
	}
	return false
}

func (c *chart) step(e *element) error {
	switch {
	case e.name == "":
		c.text(e.text)
	case e.begins:
		c.path = append(c.path, e.name)
		switch e.name {
		case "ser":
			if len(c.series) == maxSeries {
				return exceeded(LimitCells, maxSeries, "series in a chart")
			}
			c.series = append(c.series, series{})
		case "pt":
			c.point = number(e.attr("idx"))
			c.value.Reset()
		}
	default:
		if n := len(c.path); n > 0 {
			c.path = c.path[:n-1]
		}
		if e.name == "pt" {
			return c.endPoint()
		}
	}
	return nil
}

func (c *chart) text(text string) {
	n := len(c.path)
	if n == 0 {
		return
	}
	switch last := c.path[n-1]; {
	case last == "v" && c.value.Len()+len(text) < maxTitle:
		c.value.WriteString(text)
		if !c.in("pt") && c.in("tx") && len(c.series) > 0 { // a name that is not a reference
			c.series[len(c.series)-1].name += text
		}
	case last == "t" && c.in("title") && !c.in("catAx") && !c.in("valAx") && !c.in("dateAx") &&
		c.title.Len()+len(text) < maxTitle:
		c.title.WriteString(text)
	}
}

// maxTitle bounds the bytes of a title and of a value.
const maxTitle = 4096

// titled joins parts of a title; one that has become too long stays.
func titled(a, b string) string {
	if len(a)+len(b) >= maxTitle {
		return cmp.Or(a, b)
	}
	return strings.TrimSpace(a + " " + b)
}

// endPoint stores the open point. A category of several levels has a point for each; the innermost
// comes first.
func (c *chart) endPoint() error {
	n := len(c.series)
	if n == 0 || c.point >= maxPoints {
		return nil
	}
	s, v := &c.series[n-1], c.value.String()
	var list *[]string
	switch {
	case c.in("tx"):
		s.name = titled(s.name, v)
		return c.office.retain(len(v))
	case c.in("cat"), c.in("xVal"):
		list = &s.categories
	case c.in("val"), c.in("yVal"):
		list = &s.values
	default:
		return nil
	}
	for len(*list) <= c.point {
		*list = append(*list, "")
		if err := c.office.retain(0); err != nil {
			return err
		}
	}
	(*list)[c.point] = titled(v, (*list)[c.point])
	return c.office.retain(len(v))
}

// show adds the table.
func (c *chart) show() {
	rows := 0
	head, labels := []string{""}, []string(nil)
	for _, s := range c.series {
		head = append(head, block.Line(s.name))
		if labels == nil {
			labels = s.categories
		}
		rows = max(rows, len(s.values), len(labels))
	}
	title := block.Line(c.title.String())
	if rows == 0 {
		c.page.add(paragraph, "", title)
		return
	}
	c.page.add(paragraph, "", strings.TrimSuffix("Chart: "+title, ": "))
	c.page.gap()
	c.page.row(head, nil, true, true)
	for i := range rows {
		row := []string{at(labels, i)}
		for _, s := range c.series {
			row = append(row, at(s.values, i))
		}
		c.page.row(row, nil, false, false)
	}
	c.page.gap()
}

// at returns an element of a list, "" beyond its end.
func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}
