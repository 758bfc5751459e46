package python

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/wattest"
)

// archiveOf returns an npm archive with the given files.
func archiveOf(t *testing.T, files map[string][]byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, data := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o644}))
		_, err := w.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

// addBuilt installs the interpreter of make in a folder, with its compiled code.
func addBuilt(t *testing.T, dir string, library []byte) *Module {
	module, err := os.ReadFile(interpreter(t))
	require.NoError(t, err)
	if cache := filepath.Join(dir, cacheName); !exists(cache) {
		require.NoError(t, os.CopyFS(cache, os.DirFS(filepath.Join(built, cacheName))))
	}
	file := archiveOf(t, map[string][]byte{"package/README.md": []byte("text"), "package/dist/python.wasm": module})
	m, err := Add(t.Context(), workerOf(t), dir, Source{File: file, Library: library})
	require.NoError(t, err)
	return m
}

func TestAdd(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("greetings/__init__.py")
	require.NoError(t, err)
	_, err = f.Write([]byte("def hello(name): return 'Hello, ' + name\n"))
	require.NoError(t, err)
	require.NoError(t, w.Close())

	dir := t.TempDir()
	m := addBuilt(t, dir, b.Bytes())
	require.Equal(t, "3.12.0", m.About.Version)
	require.Contains(t, m.About.Modules, "json")
	require.Contains(t, m.About.Modules, "greetings")
	require.NotContains(t, m.About.Modules, "lzma", "a part of it is not compiled in")
	found, err := Find(t.TempDir(), dir)
	require.NoError(t, err)
	require.Equal(t, m, found)

	r := &Runner{
		Limits: Limits{Time: patience}, Worker: workerOf(t),
		Find: func() (*Module, error) { return Find(dir) },
	}
	defer func() { require.NoError(t, r.Close()) }()
	res, err := r.RunCode(t.Context(), script("from greetings import hello\ndef main(): return hello('you')"))
	require.NoError(t, err)
	require.Equal(t, "Hello, you", res.Value.Str(), res.Stderr)

	m = addBuilt(t, dir, nil)
	require.Empty(t, m.Library, "the library belongs to the interpreter before")
	require.NotContains(t, m.About.Modules, "greetings")
}

func TestAddRefusesOtherFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"a text file", []byte("print(1)"), "neither a module nor an archive"},
		{"an archive without a module", archiveOf(t, map[string][]byte{"a.txt": []byte("x")}), "has no .wasm file"},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00"), "not a core module"},
		{"a truncated module", []byte("\x00asm\x01\x00\x00\x00\x01\x60x"), "cut off after 8 bytes"},
		{"a library", wattest.Must(`(module (func (export "f")))`), "neither _start nor _initialize"},
		{
			"a reactor without an entry point",
			wattest.Must(`(module (func (export "_initialize")))`), "must export one of [Py_BytesMain",
		},
		{
			"a reactor without room for a command line", wattest.Must(`(module (func (export "_initialize"))
				(func (export "Py_BytesMain") (param i32 i32) (result i32) i32.const 0))`),
			"must also export one of [malloc",
		},
		{
			"a reactor whose memory is full", wattest.Must(`(module (memory (export "memory") 1)
				(func (export "_initialize")) (func (export "malloc") (param i32) (result i32) i32.const 0)
				(func (export "main") (param i32 i32) (result i32) i32.const 0))`),
			"malloc of",
		},
		{
			"a program that is not Python",
			wattest.Must(`(module (memory (export "memory") 1) (func (export "_start")))`), "ended before the script",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := Add(t.Context(), workerOf(t), dir, Source{File: c.file})
			require.ErrorContains(t, err, c.want)
			_, err = Find(dir)
			require.ErrorIs(t, err, ErrMissing)
		})
	}
}

func TestFetchVerifiesArchive(t *testing.T) {
	archive := archiveOf(t, map[string][]byte{"package/a.wasm": []byte("\x00asm")})
	asked := ""
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		_, _ = w.Write(archive)
	}))
	defer registry.Close()
	sum := sha512.Sum512(archive)
	integrity := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	p := Package{Name: "@scope/python", Version: "1.2.3", Integrity: integrity}
	got, err := p.Fetch(t.Context(), registry.URL+"/")
	require.NoError(t, err)
	require.Equal(t, archive, got)
	require.Equal(t, "/@scope/python/-/python-1.2.3.tgz", asked)

	p.Integrity = Tested.Integrity
	_, err = p.Fetch(t.Context(), registry.URL)
	require.ErrorIs(t, err, ErrIntegrity)
	require.ErrorContains(t, err, "@scope/python@1.2.3")
}

func TestFetchReportsStatus(t *testing.T) {
	registry := httptest.NewServer(http.NotFoundHandler())
	defer registry.Close()
	_, err := Tested.Fetch(t.Context(), registry.URL)
	require.ErrorContains(t, err, "404 Not Found")
}
