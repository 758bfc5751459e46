package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// dependencyTable is the document with the reason for each dependency.
const dependencyTable = "docs/decisions/dependencies.md"

var (
	goRequirement = regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+) v\S+$`) // direct: no comment follows
	goTool        = regexp.MustCompile(`(?m)^(?:tool |\t)([^\s()]+)$`)
	majorVersion  = regexp.MustCompile(`/v\d+$`)
	tableCell     = regexp.MustCompile(`(?m)^\| ([^|]+) \|`)
	moduleName    = regexp.MustCompile(`@?[\w.-]+/[\w./*-]+`)
)

// dependencies compares the direct requirements in go.mod and package.json files with the table of
// reasons: each must be in the table, and the table must not contain others.
func dependencies(tree) ([]measure, error) {
	table, err := os.ReadFile(dependencyTable)
	if err != nil {
		return nil, err
	}
	required, err := requirements()
	if err != nil {
		return nil, err
	}
	named := namedModules(string(table))
	var found []measure
	report := func(name, format string, args ...any) {
		where := []string{fmt.Sprintf(format, args...)}
		found = append(found, measure{rule: "dependency", key: name, n: 1, where: where})
	}
	for name, file := range required {
		if !slices.ContainsFunc(named, func(n string) bool { return covers(n, name) }) {
			report(name, "required by %s, without its reason in %s", file, dependencyTable)
		}
	}
	for _, n := range named {
		used := false
		for name := range required {
			used = used || covers(n, name)
		}
		if strings.Contains(n, "/") && !used {
			report(n, "has its reason in %s, but nothing requires it", dependencyTable)
		}
	}
	return found, nil
}

// covers reports whether a name in the table denotes the module: dop251/goja is
// github.com/dop251/goja, @codemirror/* each of its packages, golang.org/x/perf its command.
func covers(named, module string) bool {
	if prefix, ok := strings.CutSuffix(named, "*"); ok {
		return strings.HasPrefix(module, prefix)
	}
	return strings.Contains("/"+module+"/", "/"+named+"/")
}

// requirements returns the direct dependencies of all modules and packages, with the file of each.
func requirements() (map[string]string, error) {
	required := map[string]string{}
	names, err := trackedNames()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if slices.Contains(strings.Split(name, "/"), "scaffolds") {
			continue // templates of new plugins
		}
		switch path.Base(name) {
		case "go.mod":
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			for _, m := range append(goRequirement.FindAllSubmatch(data, -1), goTool.FindAllSubmatch(data, -1)...) {
				if !strings.HasPrefix(string(m[1])+"/", module) {
					required[majorVersion.ReplaceAllString(string(m[1]), "")] = name
				}
			}
		case "package.json":
			if err := npmRequirements(name, required); err != nil {
				return nil, err
			}
		}
	}
	return required, nil
}

func npmRequirements(file string, required map[string]string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var p struct{ Dependencies, DevDependencies, OptionalDependencies map[string]string }
	if err := json.Unmarshal(data, &p); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, list := range []map[string]string{p.Dependencies, p.DevDependencies, p.OptionalDependencies} {
		for name, version := range list {
			if !strings.HasPrefix(version, "file:") {
				required[name] = file
			}
		}
	}
	return nil
}

// namedModules returns the names in the first column of the table, without remarks in parentheses.
func namedModules(table string) []string {
	var names []string
	for _, row := range tableCell.FindAllStringSubmatch(table, -1) {
		cell, _, _ := strings.Cut(row[1], " (")
		for _, part := range strings.FieldsFunc(cell, func(r rune) bool { return r == ',' || r == ' ' }) {
			names = append(names, strings.TrimSuffix(moduleName.FindString(part), "/"), part)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" })
}
