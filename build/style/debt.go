package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// debt is the allowed measure of each rule by "rule key".
type debt map[string]int

func readDebt(file string) (debt, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d := debt{}
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, number, _ := cutLast(line, ' ')
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %q does not end in a number", file, i+1, line)
		}
		d[name] = n
	}
	return d, nil
}

func cutLast(line string, separator byte) (before, after string, found bool) {
	i := strings.LastIndexByte(line, separator)
	if i < 0 {
		return line, "", false
	}
	return line[:i], line[i+1:], true
}

func writeDebt(file string, d debt) error {
	var b strings.Builder
	b.WriteString(
		"# What does not follow a rule of build/style yet: rule, place, number. The numbers may only fall:\n" +
			"# `go run ./build/style -update` lowers them.\n",
	)
	for _, name := range slices.Sorted(maps.Keys(d)) {
		fmt.Fprintf(&b, "%s %d\n", name, d[name])
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// mostPlaces bounds the places listed for one finding.
const mostPlaces = 20

func (m measure) name() string { return m.rule + " " + m.key }

// compare reports measures above their limit and debt, and debt that is higher than the measure.
func (d debt) compare(found []measure) []string {
	var problems []string
	seen := map[string]bool{}
	for _, m := range found {
		seen[m.name()] = true
		allowed := max(m.limit, d[m.name()])
		switch {
		case m.n > allowed:
			problems = append(problems, fmt.Sprintf("%s: %d, at most %d", m.name(), m.n, allowed))
			for _, w := range m.where[:min(len(m.where), mostPlaces)] {
				problems = append(problems, "\t"+w)
			}
			if more := len(m.where) - mostPlaces; more > 0 {
				problems = append(problems, fmt.Sprintf("\tand %d more", more))
			}
		case d[m.name()] > m.n:
			problems = append(problems, fmt.Sprintf("%s: %d now, %d in %s: run `go run ./build/style -update`",
				m.name(), m.n, d[m.name()], debtFile))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if !seen[name] {
			problems = append(problems, fmt.Sprintf("%s: 0 now, %d in %s: run `go run ./build/style -update`",
				name, d[name], debtFile))
		}
	}
	return problems
}

// lowered returns the remaining debt: each entry is at most its previous value.
func (d debt) lowered(found []measure) debt {
	left := debt{}
	for _, m := range found {
		if before := d[m.name()]; before > 0 && m.n > m.limit {
			left[m.name()] = min(before, m.n)
		}
	}
	return left
}
