package terms

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/porter"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
)

// algorithms are the stemmers of languages.
var algorithms = map[string]func(*snowballstem.Env) bool{
	"danish": danish.Stem, "dutch": dutch.Stem, "english": english.Stem, "finnish": finnish.Stem,
	"french": french.Stem, "german": german.Stem, "hungarian": hungarian.Stem, "italian": italian.Stem,
	"norwegian": norwegian.Stem, "portuguese": portuguese.Stem, "romanian": romanian.Stem, "russian": russian.Stem,
	"spanish": spanish.Stem, "swedish": swedish.Stem,
}

// Languages returns the languages whose endings are known.
func Languages() []string { return slices.Sorted(maps.Keys(algorithms)) }

// stemmer returns the function that removes endings.
func stemmer(name string) (func(string) string, error) {
	if name == "none" {
		return func(w string) string { return w }, nil
	}
	algorithm := algorithms[name]
	if name == "porter" {
		algorithm = porter.Stem
	}
	if algorithm == nil {
		return nil, fmt.Errorf("unknown stemmer %q (one of none, porter, %s)", name, strings.Join(Languages(), ", "))
	}
	return func(w string) string {
		// Codes and numbers have no endings.
		if strings.ContainsFunc(w, unicode.IsDigit) {
			return w
		}
		env := snowballstem.NewEnv(w)
		algorithm(env)
		return env.Current()
	}, nil
}
