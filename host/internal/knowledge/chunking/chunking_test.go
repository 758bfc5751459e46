package chunking

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The files in testdata are cases that were recorded with the original, with its chunks beside the
// input.
func TestRecordedCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.Len(t, files, 30)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			var want struct{ Chunks []Output }
			require.NoError(t, json.Unmarshal(data, &want))
			got, err := Play(data)
			require.NoError(t, err)
			require.Equal(t, want.Chunks, got.Chunks)
		})
	}
}

func TestBadCases(t *testing.T) {
	const input = `"input": {"output_format": "text", "text": "x"}`
	for want, data := range map[string]string{
		"chunker case: ":                            `{`,
		`unknown component "Other"`:                 `{"component": "Other", ` + input + `}`,
		`unknown output_format "pdf"`:               `{"component": "TokenChunker", "input": {"output_format": "pdf"}}`,
		`delimiter_mode "x" is not one of`:          `{"component": "TokenChunker", "param": {"delimiter_mode": "x"}, ` + input + `}`,
		"chunk_token_size -1 is not above 0":        `{"component": "TokenChunker", "param": {"chunk_token_size": -1}, ` + input + `}`,
		"levels is empty":                           `{"component": "TitleChunker", "param": {"hierarchy": 1}, ` + input + `}`,
		"hierarchy is missing":                      `{"component": "TitleChunker", "param": {"levels": [["#"]]}, ` + input + `}`,
		"level pattern \"(\": error parsing regexp": `{"component": "TitleChunker", "param": {"levels": [["("]], "hierarchy": 1}, ` + input + `}`,
		`method "x" is not one of hierarchy, group`: `{"component": "TitleChunker", "param": {"method": "x"}, ` + input + `}`,
	} {
		_, err := Play([]byte(data))
		require.ErrorContains(t, err, want)
	}
}

func TestCount(t *testing.T) {
	require.Equal(t, 0, Count(""))
	require.Equal(t, 6, Count("tiktoken is great!"))
	require.Equal(t, 7, Count("antidisestablishmentarianism!"))
}
