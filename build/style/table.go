package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// anchorsFile has the figures of the projects that the table compares with.
const anchorsFile = "build/style/anchors.txt"

// figure is a number about a whole tree.
type figure struct {
	name string
	n    float64
	here bool // not measured in other projects
}

// anchors are the projects of anchorsFile and their figures by name, as text.
type anchors struct {
	projects []string
	figures  map[string][]string
}

// readAnchors reads lines of "project NAME ADDRESS COMMIT DATE [REMARK]" and "FIGURE = N N ...".
func readAnchors(text string) (*anchors, error) {
	a := &anchors{figures: map[string][]string{}}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if part := strings.Fields(line); part[0] == "project" {
			if len(part) < 5 {
				return nil, fmt.Errorf("line %d: a project needs name, address, commit and date", i+1)
			}
			a.projects = append(a.projects, part[1])
			continue
		}
		name, numbers, _ := strings.Cut(line, " = ")
		values := strings.Fields(numbers)
		if len(values) != len(a.projects) {
			return nil, fmt.Errorf("line %d: %d numbers of %d projects", i+1, len(values), len(a.projects))
		}
		for _, v := range values {
			if _, err := strconv.ParseFloat(v, 64); err != nil && v != "-" {
				return nil, fmt.Errorf("line %d: %q is neither a number nor -", i+1, v)
			}
		}
		a.figures[name] = values
	}
	return a, nil
}

// printTable prints the figures of this tree next to those of the anchors, which must have exactly
// these figures.
func (a *anchors) printTable(to io.Writer, ours []figure) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\teasel\t%s\t\n", strings.Join(a.projects, "\t"))
	unknown := maps.Clone(a.figures)
	for _, f := range ours {
		values, ok := a.figures[f.name]
		if !ok {
			return fmt.Errorf("%s: no line for %q", anchorsFile, f.name)
		}
		delete(unknown, f.name)
		fmt.Fprintf(w, "%s\t%s\t%s\t\n", f.name, f.number(), strings.Join(values, "\t"))
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		return fmt.Errorf("%s: nothing measures %q", anchorsFile, name)
	}
	return w.Flush()
}

// number returns the value with at most one decimal.
func (f figure) number() string {
	return strings.TrimSuffix(strconv.FormatFloat(f.n, 'f', 1, 64), ".0")
}

// figures returns the rows of the table. Most of their rules also have a limit for each place.
func (s *shape) figures() []figure {
	all := []figure{
		{name: "lines of Go, tests apart", n: float64(s.goLines)},
		{name: "functions of Go: median lines", n: quantile(s.goFunctions, 0.5)},
		{name: "90 % have at most", n: quantile(s.goFunctions, 0.9)},
		{name: "longest", n: quantile(s.goFunctions, 1)},
		{name: "lines of TypeScript, tests apart", n: float64(s.tsLines), here: true},
		{name: "functions of TypeScript: median lines", n: quantile(s.tsFunctions, 0.5), here: true},
		{name: "90 % of them have at most", n: quantile(s.tsFunctions, 0.9), here: true},
		{name: "longest of them", n: quantile(s.tsFunctions, 1), here: true},
		{name: "those above 80 lines", n: above(s.tsFunctions), here: true},
		{name: "types above 40 methods, embedded ones included", n: above(s.methodSets)},
		{name: "types of 36 to 40 methods", n: between(s.methodSets, 36, 40)},
		{name: "largest method set", n: quantile(s.methodSets, 1)},
		{name: "structs with more than 2 embedded fields", n: above(s.embedded)},
		{name: "largest circle of files in a package", n: quantile(s.fileCircles, 1)},
		{name: "upward arrows between files of the engine", n: float64(total(s.upward, "upward")), here: true},
		{name: "most packages directly in a folder", n: quantile(s.rooms, 1)},
		{name: "most files of a package", n: quantile(s.files, 1)},
		{name: "most packages of the module imported by one", n: quantile(s.imports, 1)},
		{name: "vague words in 1,000 declared names", n: s.naming.per1000(s.naming.vague)},
		{name: "most, least, longest, largest in 1,000 names", n: s.naming.per1000(s.naming.superlative)},
		{name: "accent in 1,000 comment lines of Go", n: s.accentGo.all()},
	}
	for i, a := range accent {
		all = append(all, figure{name: a.name, n: s.accentGo.per1000(i)})
	}
	return append(all, figure{name: "accent in 1,000 comment lines of TypeScript", n: s.accentTS.all(), here: true})
}

// total adds the numbers of one rule.
func total(all []measure, rule string) (n int) {
	for _, m := range all {
		if m.rule == rule {
			n += m.n
		}
	}
	return n
}

func quantile(all []measure, q float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(all), func(a, b measure) int { return cmp.Compare(a.n, b.n) })
	return float64(sorted[int(q*float64(len(sorted)-1))].n)
}

func above(all []measure) (n float64) {
	for _, m := range all {
		if m.n > m.limit {
			n++
		}
	}
	return n
}

func between(all []measure, low, high int) (n float64) {
	for _, m := range all {
		if low <= m.n && m.n <= high {
			n++
		}
	}
	return n
}

// printFigures prints the figures of another module as lines of anchorsFile.
func printFigures(folder string) error {
	if err := os.Chdir(folder); err != nil {
		return err
	}
	files, err := tracked()
	if err != nil {
		return err
	}
	s, err := shapeOf(files.product(), []build{{"", []string{"./..."}}})
	if err != nil {
		return err
	}
	for _, f := range s.figures() {
		value := f.number()
		if f.here {
			value = "-"
		}
		fmt.Printf("%s = %s\n", f.name, value)
	}
	return nil
}

// printTable prints the figures of this tree next to those in anchorsFile.
func printTable(ours []figure) error {
	text, err := os.ReadFile(anchorsFile)
	if err != nil {
		return err
	}
	a, err := readAnchors(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", anchorsFile, err)
	}
	return a.printTable(os.Stdout, ours)
}
