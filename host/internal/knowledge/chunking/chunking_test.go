package chunking

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// The files in testdata are cases that were recorded with the original: inputs with its chunks.
func TestRecordedCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.Len(t, files, 30)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			golden, err := engine.ParseJSON(data)
			require.NoError(t, err)
			got, err := Play(data)
			require.NoError(t, err)
			require.JSONEq(t, golden.Get("chunks").JSON(), got.Value().Get("chunks").JSON())
		})
	}
}

func TestBadCases(t *testing.T) {
	with := func(component, param string) string {
		const form = `{"component": "%sChunker", "param": %s, "input": {"output_format": "text", "text": "x"}}`
		return fmt.Sprintf(form, component, param)
	}
	for want, data := range map[string]string{
		"chunker case: ":                 `{`,
		`unknown component "Other"`:      `{"component": "Other", "input": {"output_format": "text"}}`,
		`component "Message": not a`:     `{"component": "Message", "input": {"output_format": "text"}}`,
		`unknown output_format "pdf"`:    `{"component": "TokenChunker", "input": {"output_format": "pdf"}}`,
		"parameter delimiter_mode":       with("Token", `{"delimiter_mode": "x"}`),
		"parameter chunk_token_size":     with("Token", `{"chunk_token_size": -1}`),
		"parameter levels":               with("Title", `{"hierarchy": 1}`),
		"parameter hierarchy":            with("Title", `{"levels": [["#"]]}`),
		"level pattern \"(\": missing )": with("Title", `{"levels": [["("]], "hierarchy": 1}`),
		"parameter method":               with("Title", `{"method": "x"}`),
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
