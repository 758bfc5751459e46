package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// target is a platform that Go builds for.
type target struct{ os, arch string }

var (
	releases = []target{
		{"linux", "amd64"},
		{"linux", "arm64"},
		{"darwin", "amd64"},
		{"darwin", "arm64"},
		{"windows", "amd64"},
		{"windows", "arm64"},
	}
	browsers = []target{{"js", "wasm"}, {"wasip1", "wasm"}}
)

// linked is a package as `go list -json` describes it.
type linked struct {
	Dir    string
	Module *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// goModules lists the modules linked into a program on any of the targets. The licences of a module
// are those in its root and in the folders above its linked packages.
func goModules(c *classifier, program string, targets []target) ([]component, error) {
	folders := map[string]map[string]bool{} // per module, folders with linked packages and their parents
	modules := map[string]component{}
	for _, t := range targets {
		packages, err := deps(program, t)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			m := p.Module
			if m == nil || m.Main || strings.HasPrefix(m.Path, "github.com/easel-canvas/easel") {
				continue
			}
			modules[m.Dir] = component{Kind: "golang", Name: m.Path, Version: m.Version}
			if folders[m.Dir] == nil {
				folders[m.Dir] = map[string]bool{m.Dir: true}
			}
			for dir := p.Dir; len(dir) > len(m.Dir); dir = filepath.Dir(dir) {
				folders[m.Dir][dir] = true
			}
		}
	}
	var list []component
	var failed []error
	for root, m := range modules {
		if err := m.read(c, root, folders[root]); err != nil {
			failed = append(failed, err)
		}
		list = append(list, m)
	}
	return list, errors.Join(failed...)
}

// deps lists the packages of a program on a target, with the build settings of the release.
func deps(program string, t target) ([]linked, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Module", program)
	cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly",
		"GOWORK=off")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s for %s/%s: %w", program, t.os, t.arch, err)
	}
	var packages []linked
	for in := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p linked
		err := in.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// licenceFile matches the names of licences and of related files.
var licenceFile = regexp.MustCompile(
	`(?i)^(?:licen[cs]es?|copying|copyright|unlicense|notice|patents|third.?party.*)(?:[._-].*)?$`)

// notLicence matches such names of files without a licence: sources, and terms of use of a logo.
var notLicence = regexp.MustCompile(`(?i)\.(?:go|js|ts|json|html|css)$|^license-logo$`)
