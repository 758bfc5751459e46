package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// shape is what the rules about functions, types and comments found. All functions and method sets
// are in it, those within their limits too.
type shape struct {
	goFunctions, tsFunctions []measure
	methodSets               []measure
	upward                   []measure
	accents                  []measure
	comments                 int // comment lines of Go, tests apart
}

func shapeOf(files tree, builds []build) (*shape, error) {
	product := files.product()
	s := &shape{accents: accents(files)}
	for name, data := range product {
		s.comments += len(commentLines(name, data))
	}
	p, err := loadProgram(builds)
	if err != nil {
		return nil, err
	}
	s.methodSets = methodSets(p)
	if s.upward, err = upward(p); err != nil {
		return nil, err
	}
	if s.goFunctions, err = goFunctions(product); err != nil {
		return nil, err
	}
	s.tsFunctions, err = tsFunctions(files.typeScript())
	return s, err
}

// measures returns the findings that are above a limit or that debt.txt may name.
func (s *shape) measures() []measure {
	all := slices.Concat(s.goFunctions, s.tsFunctions, s.methodSets, s.upward, s.accents)
	return slices.DeleteFunc(all, func(m measure) bool { return m.n <= m.limit })
}

// anchors are the projects that the table compares with, measured by -figures at the commits
// 0cf03d32f, fdf6cdf (without its drivers), 5d217ddb and a9fc41bdd, all of summer 2026.
var anchors = [4]string{"caddy", "river", "pocketbase", "benthos"}

// figure is a number about a whole tree, with those of the anchors in their order; they have none
// about TypeScript or floors.
type figure struct {
	name   string
	ours   float64
	others []float64
}

func (s *shape) figures() []figure {
	accents, upward := total(s.accents, "accent"), total(s.upward, "upward")
	return []figure{
		{"functions of Go: median lines", quantile(s.goFunctions, 0.5), []float64{10, 10, 10, 8}},
		{"90 % are shorter than", quantile(s.goFunctions, 0.9), []float64{54, 43, 44, 36}},
		{"longest", quantile(s.goFunctions, 1), []float64{774, 1078, 716, 584}},
		{"functions of TypeScript above 80 lines", above(s.tsFunctions), nil},
		{"types above 40 methods, embedded ones included", above(s.methodSets), []float64{5, 1, 12, 6}},
		{"largest method set", quantile(s.methodSets, 1), []float64{239, 61, 220, 61}},
		{"arrows that run up in the engine", float64(upward), nil},
		{
			"accent in 1,000 comment lines", 1000 * float64(accents) / float64(max(1, s.comments)),
			[]float64{1.8, 1.2, 0.8, 1.1},
		},
	}
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

// printTable prints figures of this tree beside those of the anchors.
func printTable(all []figure) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\teasel\t%s\t\n", strings.Join(anchors[:], "\t"))
	for _, f := range all {
		fmt.Fprintf(w, "%s\t%.4g\t", f.name, f.ours)
		for i := range anchors {
			if i < len(f.others) {
				fmt.Fprintf(w, "%.4g", f.others[i])
			}
			fmt.Fprint(w, "\t")
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // to standard output
}

// printFigures prints the figures of another module.
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
		fmt.Printf("%s: %.4g\n", f.name, f.ours)
	}
	return nil
}
