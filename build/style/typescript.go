package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// tsFunctions measures the functions of TypeScript files in lines, by a program of Node. It also
// reports what the parser does not know.
func tsFunctions(files tree) (functions, unparsed []measure, err error) {
	if len(files) == 0 {
		return nil, nil, nil
	}
	names := slices.Sorted(maps.Keys(files))
	cmd := exec.Command("node", "build/style/functions.mjs")
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n"))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("functions of TypeScript (`make web/node_modules` installs the parser): %w", err)
	}
	unknown := places{}
	for line := range bytes.Lines(out) {
		number, key, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if number == "?" {
			file, _, _ := cutLast(key, ':')
			unknown.add("unparsed", file, key+": see the parser of build/style/functions.mjs")
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, nil, fmt.Errorf("functions of TypeScript: %q does not begin with a number", line)
		}
		functions = append(functions, measure{rule: "function-lines", key: key, n: n, limit: functionLines})
	}
	return longestByName(functions), unknown.measures(), nil
}

// longestByName keeps the longest function of each name in a file, such as a method of two classes.
func longestByName(all []measure) []measure {
	slices.SortStableFunc(all, func(a, b measure) int { return b.n - a.n })
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(m measure) bool {
		again := seen[m.key]
		seen[m.key] = true
		return again
	})
}
