package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// program is the product code of the module with its types, as the compiler sees it.
type program struct {
	set      *token.FileSet
	packages []*checked
}

// checked is a package with its types.
type checked struct {
	path  string // without the path of the module; "." for its root
	files []*ast.File
	types *types.Package
	uses  map[*ast.Ident]types.Object
}

// listed is a package as `go list -json` describes it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
	Error                   *struct{ Err string }
}

// build names packages and the target they are built for; "" is this machine.
type build struct {
	target   string
	patterns []string
}

var builds = []build{
	{"", []string{"./...", "./plugins/sdk/...", "./plugins/examples/..."}},
	{"js/wasm", []string{"./wasm"}},
}

// loadProgram checks the types of packages. Imports are read from the compiler's export data, which
// `go vet` has built before.
func loadProgram(builds []build) (*program, error) {
	p := &program{set: token.NewFileSet()}
	for _, b := range builds {
		if err := p.load(b.target, b.patterns); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *program) load(target string, patterns []string) error {
	list, err := listPackages(target, patterns)
	if err != nil {
		return err
	}
	exports := map[string]string{}
	for _, l := range list {
		exports[l.ImportPath] = l.Export
	}
	from := importer.ForCompiler(p.set, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	for _, l := range list {
		if l.DepOnly || len(l.GoFiles) == 0 {
			continue
		}
		if err := p.check(l, from); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) check(l listed, from types.Importer) error {
	pkg := &checked{path: strings.TrimPrefix(l.ImportPath, module), uses: map[*ast.Ident]types.Object{}}
	for _, name := range l.GoFiles {
		file, err := parser.ParseFile(p.set, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse: %w", err)
		}
		pkg.files = append(pkg.files, file)
	}
	cfg := types.Config{Importer: from}
	var err error
	if pkg.types, err = cfg.Check(l.ImportPath, p.set, pkg.files, &types.Info{Uses: pkg.uses}); err != nil {
		return fmt.Errorf("types of %s: %w", pkg.path, err)
	}
	same := func(c *checked) bool { return c.path == pkg.path } // for an earlier target
	p.packages = append(slices.DeleteFunc(p.packages, same), pkg)
	return nil
}

func listPackages(target string, patterns []string) ([]listed, error) {
	const fields = "-json=ImportPath,Dir,Export,GoFiles,DepOnly,Error"
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", fields}, patterns...)...)
	if system, arch, ok := strings.Cut(target, "/"); ok {
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var list []listed
	for in := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := in.Decode(&l); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if l.Error != nil {
			return nil, fmt.Errorf("go list: %s: %s", l.ImportPath, l.Error.Err)
		}
		list = append(list, l)
	}
}
