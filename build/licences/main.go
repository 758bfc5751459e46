// Command licences lists the third-party software in the files that easel ships, with the texts of
// its licences.
//
// The list of the program contains the modules that the go command links into it on any release
// platform; the lists of the page and the npm package contain those that esbuild bundles. The texts
// are in the module cache and in node_modules next to the sources; components compiled from other
// software are listed manually in parts.go. A component without a licence, or with one that is not
// known to be compatible with Apache-2.0, is an error. Nothing is downloaded.
//
//	go run ./build/licences                            # write NOTICE and build/licences/lists
//	go run ./build/licences -check                     # compare them with what would be written
//	go run ./build/licences -sbom DIR -version 0.1.0   # write the lists as CycloneDX documents
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	check := flag.Bool("check", false, "compare the files with what would be written")
	sbom := flag.String("sbom", "", "write the software bills of materials into this directory instead")
	version := flag.String("version", "", "version of easel in them")
	flag.Parse()
	if err := run(*check, *sbom, *version); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(check bool, sbom, version string) error {
	lists, err := gather()
	if err != nil {
		return err
	}
	if sbom != "" {
		return writeSBOMs(sbom, version, lists)
	}
	files := map[string][]byte{"NOTICE": notice(lists["program"])}
	for name, list := range lists {
		files[filepath.Join("build", "licences", "lists", name+".txt")] = render(list)
	}
	var stale []error
	for list := range described {
		_, err := document(list, version, lists[list])
		stale = append(stale, err)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if !check {
			if err := os.WriteFile(path, files[path], 0o644); err != nil {
				return err
			}
			continue
		}
		if was, err := os.ReadFile(path); err != nil || !bytes.Equal(was, files[path]) {
			stale = append(stale, fmt.Errorf("%s is not current; run `make licences`", path))
		}
	}
	return errors.Join(stale...)
}

// gather returns the components of each artifact that easel ships, by its name.
func gather() (map[string][]component, error) {
	apache, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	classify, err := newClassifier(string(apache))
	if err != nil {
		return nil, err
	}
	packages, err := bundled()
	if err != nil {
		return nil, err
	}
	page, err := npmPackages(classify, "web", packages.Page)
	if err != nil {
		return nil, err
	}
	npm, err := npmPackages(classify, "wasm/js", packages.Package)
	if err != nil {
		return nil, err
	}
	program, err := goModules(classify, "./host/cmd/easel", releases)
	if err != nil {
		return nil, err
	}
	engine, err := goModules(classify, "./wasm", browsers)
	if err != nil {
		return nil, err
	}
	easel := component{
		Kind: "easel", Name: "easel", Licences: []string{"Apache-2.0"},
		Files: []file{{"LICENSE", string(apache)}},
	}
	lists := map[string][]component{
		"program": slices.Concat([]component{easel}, program, engine, page),
		"page":    slices.Concat([]component{easel}, engine, page),
		"package": slices.Concat([]component{easel}, engine, npm),
		"plugins": nil,
	}
	for name, list := range lists {
		if list, err = withParts(name, list); err != nil {
			return nil, err
		}
		lists[name] = ordered(list)
	}
	return lists, nil
}
