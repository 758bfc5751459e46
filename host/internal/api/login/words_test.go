package login

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWordsAreCompleteInEachLanguage(t *testing.T) {
	read := json.NewDecoder(bytes.NewReader(loginJSON))
	read.DisallowUnknownFields()
	var texts map[string]loginWords
	require.NoError(t, read.Decode(&texts))
	require.Equal(t, loginTexts, texts)
	require.Len(t, texts, 2)
	for lang, words := range texts {
		require.Equal(t, lang, words.Lang)
		v := reflect.ValueOf(words)
		for i := range v.NumField() {
			require.NotEmpty(t, v.Field(i).String(), "%s: %s", lang, v.Type().Field(i).Name)
		}
	}
}

// The login page has the colours of the page, in the light and in the dark.
func TestColoursAreThoseOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../../../web/style/page.css")
	require.NoError(t, err)
	token := regexp.MustCompile(`(--[a-z-]+): (#[0-9a-f]+)`)
	tokens := func(css string) (out map[string][]string) {
		out = map[string][]string{}
		for _, m := range token.FindAllStringSubmatch(css, -1) {
			color := strings.TrimPrefix(m[2], "#")
			if len(color) == 3 {
				color = string([]byte{color[0], color[0], color[1], color[1], color[2], color[2]})
			}
			out[m[1]] = append(out[m[1]], color)
		}
		return out
	}
	want := tokens(string(page))
	for name, colors := range tokens(loginCSS) {
		require.Len(t, colors, 2, name)
		require.Subset(t, want[name], colors, name)
	}
}
