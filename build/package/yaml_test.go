package packaging

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// tree is an untyped YAML document.
type tree = map[string]any

func readFile(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(data)
}

func readYAML(t testing.TB, name string) tree {
	t.Helper()
	var v tree
	require.NoError(t, yaml.Unmarshal([]byte(readFile(t, name)), &v))
	return v
}

// documents parses a multi-document file.
func documents(t testing.TB, text string) (out []tree) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		var v tree
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err, text)
		if v != nil {
			out = append(out, v)
		}
	}
}

// at follows keys and, in lists, indexes. It returns nil if one is missing.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(tree)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func toYAML(v any) (string, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// variables matches the names of easel's environment variables.
var variables = regexp.MustCompile(`EASEL_[A-Z_]+`)
