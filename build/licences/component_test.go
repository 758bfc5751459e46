package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// module writes files into a folder and reads the component there, with all folders linked.
func module(t *testing.T, files map[string]string) (component, error) {
	t.Helper()
	root := t.TempDir()
	folders := map[string]bool{root: true}
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		folders[filepath.Dir(path)] = true
	}
	c := component{Kind: "golang", Name: "example.org/m", Version: "v1.2.3"}
	return c, c.read(testClassifier(t), root, folders)
}

func TestComponentNeedsAKnownLicence(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		err   string
	}{
		"none":          {map[string]string{"README.md": "MIT"}, "example.org/m v1.2.3: no licence file in it"},
		"a notice only": {map[string]string{"NOTICE": "Copyright A"}, "no licence file in it"},
		"unknown": {
			map[string]string{"LICENSE": "do what we want"},
			"example.org/m v1.2.3: LICENSE: unknown licence",
		},
		"one of a folder": {
			map[string]string{"LICENSE": written("MIT"), "part/COPYING": "GNU GENERAL PUBLIC LICENSE"},
			"part/COPYING: unknown licence",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := module(t, test.files)
			require.ErrorContains(t, err, test.err)
		})
	}
}

func TestReviewedLicenceMustBeAllowed(t *testing.T) {
	const key = "example.org/m@v1.2.3 LICENSE"
	reviewed[key] = []string{"GPL-3.0-only"}
	defer delete(reviewed, key)
	_, err := module(t, map[string]string{"LICENSE": "GNU GENERAL PUBLIC LICENSE"})
	require.ErrorContains(t, err, "GPL-3.0-only does not go together with Apache-2.0")
}

func TestPartsAreOfAKnownVersion(t *testing.T) {
	t.Chdir(filepath.Join("..", "..")) // the working directory of the program
	name, version, _ := cutVersion(pdfium)
	list, err := withParts("program", []component{{Kind: "golang", Name: name, Version: version}})
	require.NoError(t, err)
	text := string(render(ordered(list)))
	require.Contains(t, text, "  FreeType, in "+name)
	require.Contains(t, text, "The FreeType Project LICENSE")
	require.Contains(t, text, "based in part on the work of the Independent JPEG Group")

	_, err = withParts("program", []component{{Kind: "golang", Name: name, Version: "v9.0.0"}})
	require.ErrorContains(t, err, "v9.0.0: its parts are listed for "+version)
	list, err = withParts("page", nil)
	require.NoError(t, err)
	require.NotContains(t, string(render(ordered(list))), "FreeType")
}

// Texts that differ only in line breaks are printed once, with all components that have them.
func TestSameTextIsPrintedOnce(t *testing.T) {
	groups := grouped([]component{
		{Name: "a", Version: "v1", Files: []file{{"LICENSE", "one\ntwo"}, {"NOTICE", "hear"}}},
		{Name: "b", Files: []file{{"COPYING", "One two"}}},
	})
	require.Len(t, groups, 1)
	require.Equal(t, []string{"a v1: LICENSE", "b: COPYING"}, groups[0].of)
}
