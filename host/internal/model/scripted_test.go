package model

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScriptServesEveryModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script.json")
	require.NoError(t,
		os.WriteFile(path,
			[]byte(`{"llm_script": [{"text": "never", "match": "Goodbye"}, {"chunks": ["Hi", "!"]}], "fallback": `+
				`{"text": "so it goes"}}`), 0o600))
	m, err := New(Config{})
	require.NoError(t, err)
	scripted, err := m.Select("scripted:" + path)
	require.NoError(t, err)
	for _, want := range []string{"Hi!", "so it goes"} {
		text, _, err := collect(scripted.Generate(t.Context(), hello(true)))
		require.NoError(t, err)
		require.Equal(t, want, text)
	}
}

func TestInvalidScript(t *testing.T) {
	m, err := New(Config{})
	require.NoError(t, err)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"list": `[]`, "nothing": `{}`, "broken": `{`,
		"reply": `{"llm_script": [{"texts": 1}]}`,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := m.Select("scripted:" + path)
		require.ErrorContains(t, err, "scripted model")
	}
	_, err = m.Select("scripted:" + filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
