package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKnowledge asks the example about the shop over HTTP: passages are found, cited, and follow
// the folder.
func TestKnowledge(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("examples/knowledge")))
	_, url := open(t, Config{Knowledge: dir})
	shop, err := examples.ReadFile("examples/shop.json")
	require.NoError(t, err)
	canvas := saved(t, url, "key", string(shop))
	require.Contains(t, said(t, url, "key", canvas, "How long can I return shoes?"), "within thirty days. [ID:")

	var answer struct {
		Data struct {
			Data struct {
				Content   string
				Reference struct {
					Chunks map[string]struct {
						Content      string
						DocumentName string `json:"document_name"`
						DatasetID    string `json:"dataset_id"`
					}
				}
			}
		}
	}
	call(t, "POST", url+"/api/v1/agents/"+canvas+"/completions", `{"question":"How long can I return shoes?","stream":false}`, &answer)
	require.NotEmpty(t, answer.Data.Data.Reference.Chunks)
	for n, c := range answer.Data.Data.Reference.Chunks {
		require.Equal(t, "shop", c.DatasetID)
		require.NotEmpty(t, c.Content, n)
	}

	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop", "balloons.html"), []byte("<h1>Returns of balloons</h1><p>Balloons can be returned until they burst.</p>"), 0o600))
	var last string
	require.Eventually(t, func() bool {
		last = said(t, url, "key", canvas, "Can I return balloons?")
		return strings.Contains(last, "until they burst")
	}, patience, poll, "%s", &last)

	var missing map[string]any
	require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(string(shop), `"shop"`, `"cellar"`)), &missing))
	text, err := json.Marshal(missing)
	require.NoError(t, err)
	require.Contains(t, said(t, url, "key", saved(t, url, "key", string(text)), "How long can I return shoes?"), `dataset "cellar" does not exist; there are ., guides, shop`)
	_, err = New(t.Context(), Config{Dir: t.TempDir(), Knowledge: filepath.Join(dir, "missing"), Log: quiet})
	require.ErrorContains(t, err, "missing")
}
