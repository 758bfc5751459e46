package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	headingPattern = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
	guidePattern   = regexp.MustCompile(`\(https://guides\.invalid/([\w-]+)/?([^)]*)\)`)
)

func TestGuidesLinkToGuidesAndTheirHeadings(t *testing.T) {
	list, err := bundler{root: "../.."}.readGuides()
	require.NoError(t, err)
	headings := map[string]map[string]bool{}
	for _, g := range list {
		require.NotEmpty(t, g.Title)
		headings[g.ID] = map[string]bool{}
		for _, m := range headingPattern.FindAllStringSubmatch(g.Text, -1) {
			headings[g.ID][slug(m[1])] = true
		}
	}
	links := 0
	for _, g := range list {
		require.NotRegexp(t, `\]\((\.|[\w-]+(/|\.md))`, withoutCode(g.Text), g.ID)
		for _, m := range guidePattern.FindAllStringSubmatch(g.Text, -1) {
			links++
			require.Contains(t, headings, m[1], g.ID)
			if m[2] != "" {
				require.Contains(t, headings[m[1]], m[2], g.ID)
			}
		}
	}
	require.Greater(t, links, 50)
}

func TestLinksToOtherFilesBecomeTheirWords(t *testing.T) {
	g := guide{ID: "a", file: "docs/a.md"}
	ids := map[string]string{"docs/a.md": "a", "host/README.md": "host"}
	for from, want := range map[string]string{
		"see [limits](../host/README.md#limits)": "see [limits](https://guides.invalid/host/limits)",
		"[x](decisions/y.md) and [z](#z)":        "x and [z](https://guides.invalid/a/z)",
		"[w](https://w.example/a.md)":            "[w](https://w.example/a.md)",
		"![p](p.png)\n```\n[k](k.md)\n```":       "\n```\n[k](k.md)\n```",
	} {
		require.Equal(t, want, linked(from, g, ids))
	}
}

// slug returns the anchor that Markdown of GitHub has for a heading.
func slug(heading string) string {
	heading = strings.ToLower(linkPattern.ReplaceAllString(heading, "$1"))
	return strings.ReplaceAll(regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(heading, ""), " ", "-")
}

func withoutCode(text string) string {
	parts := strings.Split(text, "```")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = ""
	}
	return regexp.MustCompile("`[^`]*`").ReplaceAllString(strings.Join(parts, ""), "")
}

// Each document for operators is a guide of the page.
func TestDocumentsForOperatorsAreGuides(t *testing.T) {
	files, err := filepath.Glob("../../docs/operate/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		require.True(t, slices.ContainsFunc(guides(), func(g guide) bool {
			return g.file == "docs/operate/"+filepath.Base(file)
		}), "%s is no guide", file)
	}
}
