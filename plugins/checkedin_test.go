// Package plugins_test compares the compiled guests that are checked in with their
// sources. Not every machine has their compilers; checkedin.json lists the sources and the compiler
// of each. After a change of a source:
//
//	go test ./plugins -update
//
// with npm installed in sdk-as, and a rustc that has the target wasm32-unknown-unknown (RUSTC and
// RUSTFLAGS may name one); for CLANG, WASI_SYSROOT and QUICKJS see js/guest/build.sh.
package plugins_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "build the checked-in guests again")

// guest is a checked-in module: its sources by pattern, and how it is built.
type guest struct {
	file    string
	sources []string
	tool    tool
}

var guests = []guest{
	{
		"examples/typewriter/typewriter.wasm",
		[]string{"examples/typewriter/*.ts", "sdk-as/assembly/*.ts"},
		assemblyScript{},
	},
	{"sdk-as/testdata/golden.wasm", []string{"sdk-as/testdata/*.ts", "sdk-as/assembly/*.ts"}, assemblyScript{}},
	{
		"http/guest/interpreter.wasm",
		[]string{"http/guest/*.ts", "sdk-as/assembly/*.ts"},
		assemblyScript{runtime: "stub"},
	},
	{"examples/table/table.wasm", []string{"examples/table/*.rs", "examples/table/build.sh", "sdk-rust/*.rs"}, rust{}},
	{
		"js/guest/interpreter.wasm",
		[]string{"js/guest/*.c", "js/guest/*.h", "js/guest/*.js", "js/guest/build.sh"},
		quickJS{},
	},
	{
		"sdk-rust/testdata/golden.wasm",
		[]string{"sdk-rust/testdata/*.rs", "sdk-rust/testdata/build.sh", "sdk-rust/*.rs"},
		rust{},
	},
}

// tool is a compiler. Without it on this machine version is empty and reason is set.
type tool interface {
	version() (version, why string)
	build(t *testing.T, file, to string)
}

// record is the entry of a module in checkedin.json.
type record struct {
	Tool    string            `json:"tool"`
	Sources map[string]string `json:"sources"` // SHA-256 by path
	SHA256  string            `json:"sha256"`
}

const recordFile = "checkedin.json"

func TestCheckedInGuests(t *testing.T) {
	records := map[string]record{}
	raw, err := os.ReadFile(recordFile)
	if err == nil {
		err = json.Unmarshal(raw, &records)
	}
	if !*update {
		require.NoError(t, err)
		require.Len(t, records, len(guests))
	}
	for _, g := range guests {
		t.Run(g.file, func(t *testing.T) {
			version, why := g.tool.version()
			if *update && version != "" { // without its tool a module must be unchanged
				g.tool.build(t, g.file, g.file)
				records[g.file] = record{version, digests(t, g.sources), digest(t, g.file)}
			}
			was := records[g.file]
			require.Equal(t, was.Sources, digests(t, g.sources),
				"a source changed after the module was built; run `go test ./plugins -update`")
			require.Equal(t, was.SHA256, digest(t, g.file),
				"the module is not the recorded one; run `go test ./plugins -update`")
			if version == "" {
				t.Skip("not built again: " + why)
			}
			if version != was.Tool {
				t.Skipf("not built again: this machine has %s, it was built with %s", version, was.Tool)
			}
			to := filepath.Join(t.TempDir(), "again.wasm")
			g.tool.build(t, g.file, to)
			require.Equal(t, was.SHA256, digest(t, to), "the same sources and tool give other bytes")
		})
	}
	if *update {
		raw, err := json.MarshalIndent(records, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(recordFile, append(raw, '\n'), 0o644))
	}
}

func digests(t *testing.T, patterns []string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, p := range patterns {
		files, err := filepath.Glob(p)
		require.NoError(t, err)
		require.NotEmpty(t, files, p)
		for _, f := range files {
			out[f] = digest(t, f)
		}
	}
	return out
}

func digest(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// assemblyScript is the compiler that npm installs for the SDK. runtime is its memory management,
// minimal when left out; a module with stub resets its heap itself.
type assemblyScript struct{ runtime string }

const asc = "sdk-as/node_modules/assemblyscript"

func (assemblyScript) version() (version, why string) {
	raw, err := os.ReadFile(asc + "/package.json")
	if err != nil {
		return "", "no " + asc + "; run `npm ci` in plugins/sdk-as"
	}
	if _, err := exec.LookPath("node"); err != nil {
		return "", "node is missing"
	}
	var p struct{ Version string }
	if err := json.Unmarshal(raw, &p); err != nil {
		return "", err.Error()
	}
	return "assemblyscript " + p.Version, ""
}

func (a assemblyScript) build(t *testing.T, file, to string) {
	t.Helper()
	to, err := filepath.Abs(to)
	require.NoError(t, err)
	root, err := filepath.Abs(".")
	require.NoError(t, err)
	dir := filepath.Dir(file)
	sdk, err := filepath.Rel(dir, "sdk-as/assembly/index/abort")
	require.NoError(t, err)
	cmd := exec.Command("node", filepath.Join(root, asc, "bin/asc.js"),
		strings.TrimSuffix(filepath.Base(file), ".wasm")+".ts",
		"-o", to, "-O2", "--runtime", cmp.Or(a.runtime, "minimal"), "--use", "abort="+filepath.ToSlash(sdk))
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
}

// rust is the compiler of the module's build.sh.
type rust struct{}

func (rust) version() (version, why string) {
	rustc := os.Getenv("RUSTC")
	if rustc == "" {
		rustc = "rustc"
	}
	out, err := exec.Command(rustc, "--version").Output()
	if err != nil {
		return "", "rustc is missing"
	}
	libs, err := exec.Command(rustc, append(strings.Fields(os.Getenv("RUSTFLAGS")),
		"--target", "wasm32-unknown-unknown", "--print", "target-libdir")...).Output()
	if err == nil {
		_, err = os.Stat(strings.TrimSpace(string(libs)))
	}
	if err != nil {
		return "", "rustc has no target wasm32-unknown-unknown"
	}
	name, number, _ := strings.Cut(string(out), " ")
	number, _, _ = strings.Cut(number, " ")
	return name + " " + strings.TrimSpace(number), ""
}

// quickJS are the tools of build.sh of the interpreter: clang and the source of QuickJS.
type quickJS struct{}

func (quickJS) version() (version, why string) {
	clang, source := os.Getenv("CLANG"), os.Getenv("QUICKJS")
	if clang == "" || source == "" {
		return "", "CLANG or QUICKJS is not set, see js/guest/build.sh"
	}
	out, err := exec.Command(clang, "-dumpversion").Output()
	if err != nil {
		return "", err.Error()
	}
	number, err := os.ReadFile(filepath.Join(source, "VERSION"))
	if err != nil {
		return "", err.Error()
	}
	return "clang " + strings.TrimSpace(string(out)) + ", quickjs " + strings.TrimSpace(string(number)), ""
}

func (quickJS) build(t *testing.T, file, to string) { runBuild(t, file, to) }

func (rust) build(t *testing.T, file, to string) { runBuild(t, file, to) }

// runBuild runs the build.sh of a module.
func runBuild(t *testing.T, file, to string) {
	t.Helper()
	to, err := filepath.Abs(to)
	require.NoError(t, err)
	cmd := exec.Command("sh", "build.sh", to)
	cmd.Dir = filepath.Dir(file)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
}
