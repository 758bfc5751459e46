// Command style checks rules of this repository that formatters and linters do not cover: widths,
// sizes of files, functions, method sets and folders, embedded fields, allowed imports between
// packages, upward arrows between the files of the engine, import cycles in TypeScript and
// AssemblyScript, names of components in the page, discouraged words, commit subjects, and what
// documents say of the repository.
//
// Violations older than their rule are listed in debt.txt, with a number per place. A higher number
// fails; a lower one must be recorded with -update, which never raises a number.
//
// It prints a table of figures of the whole tree next to those of other projects, which are in
// anchors.txt; -figures DIR measures one.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
)

// measure is the finding of a rule for one key: a file, a folder, a type or an import.
type measure struct {
	rule, key string
	n         int
	limit     int      // the highest value that needs no entry in debt.txt
	where     []string // the places, for the report
}

const debtFile = "build/style/debt.txt"

// rules look at the text of files alone.
var rules = []func(tree) ([]measure, error){
	widths, fileLengths, layers, cycles, names, words, subjects, documents, dependencies, ages,
}

func main() {
	update := flag.Bool("update", false, "lower the numbers of "+debtFile+" to what is found")
	other := flag.String("figures", "", "print the figures of the Go module in this `folder`, and nothing else")
	flag.Parse()
	err := error(nil)
	if *other != "" {
		err = printFigures(*other)
	} else {
		err = run(*update)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "style:", err)
		os.Exit(1)
	}
}

func run(update bool) error {
	files, err := tracked()
	if err != nil {
		return err
	}
	var found []measure
	for _, rule := range rules {
		ms, err := rule(files)
		if err != nil {
			return err
		}
		found = append(found, ms...)
	}
	shape, err := shapeOf(files, builds)
	if err != nil {
		return err
	}
	found = append(found, shape.measures()...)
	slices.SortFunc(found, func(a, b measure) int {
		return cmp.Or(cmp.Compare(a.rule, b.rule), cmp.Compare(a.key, b.key))
	})
	owed, err := readDebt(debtFile)
	if err != nil {
		return err
	}
	if update {
		return writeDebt(debtFile, owed.lowered(found))
	}
	if err := printTable(shape.figures()); err != nil {
		return err
	}
	problems := owed.compare(found)
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, p)
	}
	if len(problems) > 0 {
		return fmt.Errorf("%d problems", len(problems))
	}
	return nil
}
