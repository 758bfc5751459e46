package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func apacheText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../LICENSE")
	require.NoError(t, err)
	return string(text)
}

func testClassifier(t *testing.T) *classifier {
	t.Helper()
	c, err := newClassifier(apacheText(t))
	require.NoError(t, err)
	return c
}

// written returns the text of a body as it appears in a project.
func written(id string) string {
	for _, b := range bodies {
		if b.id == id {
			return strings.NewReplacer("<1>", "*", "<>", "The Authors").Replace(b.text)
		}
	}
	return ""
}

// letters stand before the conditions of Apache-2.0.
var letters = regexp.MustCompile(`\([a-d]\) `)

func TestIdentify(t *testing.T) {
	c := testClassifier(t)
	for name, test := range map[string]struct {
		text string
		want []string
		err  string
	}{
		"the licence of this repository": {apacheText(t), []string{"Apache-2.0"}, ""},
		"Apache-2.0 without letters":     {letters.ReplaceAllString(apacheText(t), "* "), []string{"Apache-2.0"}, ""},
		"BSD with the names": {
			"Copyright 2020 A\n" + written("BSD-3-Clause"),
			[]string{"BSD-3-Clause"},
			"",
		},
		"BSD without them": {written("BSD-2-Clause"), []string{"BSD-2-Clause"}, ""},
		"in a comment": {
			"// " + strings.ReplaceAll(written("ISC"), "\n", "\n// "),
			[]string{"ISC"},
			"",
		},
		"two": {
			"MIT or Zlib\n" + written("MIT") + "\n---\n" + written("Zlib"),
			[]string{"MIT", "Zlib"},
			"",
		},
		"a further condition": {
			written("MIT") + "\nThe Software must be used for good.", nil,
			`conditions beside MIT: "must be used for good"`,
		},
		"Commons Clause": {
			written("Zlib") + "\n\"Commons Clause\" License Condition v1.0", nil,
			"conditions beside Zlib",
		},
		"a changed condition": {
			strings.Replace(written("MIT"), "free of charge", "for a charge", 1), nil,
			"unknown licence",
		},
		"GPL": {"GNU GENERAL PUBLIC LICENSE Version 3", nil, "unknown licence"},
		"Apache-2.0 with less": {
			strings.Replace(apacheText(t), "worldwide, ", "", 1), nil,
			"conditions beside Apache-2.0",
		},
		"nothing": {"", nil, "unknown licence"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.identify(test.text)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

// Each text of a part with a fixed licence wording is the licence it claims to be.
func TestListedTexts(t *testing.T) {
	c := testClassifier(t)
	t.Chdir(filepath.Join("..", "..")) // the working directory of the program
	for _, p := range parts {
		licence, err := p.licence()
		require.NoError(t, err, p.name)
		for _, id := range p.licences {
			require.True(t, allowed[id], "%s: %s", p.name, id)
		}
		if len(p.licences) == 1 && (p.licences[0] == "MIT" || p.licences[0] == "Zlib" ||
			strings.HasPrefix(p.licences[0], "BSD")) && p.text != "musl.txt" {
			got, err := c.identify(licence.Text)
			require.NoError(t, err, p.name)
			require.Equal(t, p.licences, got, p.name)
		}
	}
}
