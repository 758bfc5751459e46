package packaging

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/require"
)

// render returns a substitute for `helm template` with the functions that the chart uses. It
// returns the documents by kind and name, and NOTES.txt.
func render(t testing.TB, release string, given tree) (byName map[string]tree, notes string, err error) {
	t.Helper()
	root := template.New("chart").Option("missingkey=error")
	root.Funcs(functions(root))
	files, err := filepath.Glob("chart/templates/*")
	require.NoError(t, err)
	for _, f := range files {
		_, err := root.New(filepath.Base(f)).Parse(readFile(t, f))
		require.NoError(t, err)
	}
	meta := readYAML(t, "chart/Chart.yaml")
	data := tree{
		"Values":  merge(readYAML(t, "chart/values.yaml"), given),
		"Chart":   tree{"Name": meta["name"], "Version": meta["version"], "AppVersion": meta["appVersion"]},
		"Release": tree{"Name": release, "Namespace": "default", "Service": "Helm"},
	}
	byName = map[string]tree{}
	for _, f := range files {
		var b bytes.Buffer
		if err := root.ExecuteTemplate(&b, filepath.Base(f), data); err != nil {
			return nil, "", err
		}
		switch filepath.Ext(f) {
		case ".txt":
			notes = b.String()
		case ".yaml":
			for _, d := range documents(t, b.String()) {
				byName[nameOf(d)] = d
			}
		}
	}
	return byName, notes, nil
}

func nameOf(d tree) string { return fmt.Sprint(d["kind"], " ", at(d, "metadata", "name")) }

// merge applies given values over defaults, object by object.
func merge(defaults, given tree) tree {
	out := maps.Clone(defaults)
	for k, v := range given {
		if inner, ok := v.(tree); ok {
			if old, ok := out[k].(tree); ok {
				v = merge(old, inner)
			}
		}
		out[k] = v
	}
	return out
}

func functions(root *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var b bytes.Buffer
			err := root.ExecuteTemplate(&b, name, data)
			return strings.TrimSpace(b.String()), err
		},
		"toYaml": toYAML,
		"nindent": func(n int, s string) string {
			pad := "\n" + strings.Repeat(" ", n)
			return pad + strings.ReplaceAll(s, "\n", pad)
		},
		"quote": func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"default": func(otherwise, v any) any {
			return map[bool]any{
				true:  v,
				false: otherwise,
			}[v != nil && v != ""]
		},
		"contains":   func(part, s string) bool { return strings.Contains(s, part) },
		"trunc":      func(n int, s string) string { return s[:min(n, len(s))] },
		"trimSuffix": func(suffix, s string) string { return strings.TrimSuffix(s, suffix) },
		"int":        func(v any) int { n, _ := v.(int); return n },
		"fail":       func(why string) (string, error) { return "", errors.New(why) },
		"required": func(why string, v any) (any, error) {
			if v == nil || v == "" {
				return nil, errors.New(why)
			}
			return v, nil
		},
		"lookup":       func(...string) tree { return nil }, // nothing is installed
		"randAlphaNum": func(n int) string { return strings.Repeat("x", n) },
		"b64enc":       func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"sha256sum":    func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) },
	}
}

var installations = []struct {
	golden, release string
	values          string // a file; "" means the defaults
}{
	{"testdata/one.golden.yaml", "easel", ""},
	{"testdata/many.golden.yaml", "prod", "testdata/many.yaml"},
}

// The output of render equals that of Helm.
func TestSameAsHelm(t *testing.T) {
	for _, c := range installations {
		t.Run(c.golden, func(t *testing.T) {
			var given tree
			if c.values != "" {
				given = readYAML(t, c.values)
			}
			got, _, err := render(t, c.release, given)
			require.NoError(t, err)
			want := map[string]tree{}
			for _, d := range documents(t, readFile(t, c.golden)) {
				want[nameOf(d)] = d
			}
			require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)),
				"after a change of the chart: make chart")
			for name, d := range want {
				if d["kind"] == "Secret" { // random
					require.Len(t, got[name]["data"], len(d["data"].(tree)), name)
					delete(got[name], "data")
					delete(d, "data")
				}
				require.Equal(t, d, got[name], "%s; after a change of the chart: make chart", name)
			}
		})
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}
