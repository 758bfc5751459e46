package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKnowledge runs the shop example over HTTP: passages are found and cited, and changes of the
// folder count.
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
	call(t, "POST", url+"/api/v1/agents/"+canvas+"/completions",
		`{"question":"How long can I return shoes?","stream":false}`, &answer)
	require.NotEmpty(t, answer.Data.Data.Reference.Chunks)
	shopID := folderDataset(t, url, "shop")
	for n, c := range answer.Data.Data.Reference.Chunks {
		require.Equal(t, shopID, c.DatasetID)
		require.NotEmpty(t, c.Content, n)
	}

	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop", "balloons.html"),
		[]byte("<h1>Returns of balloons</h1><p>Balloons can be returned until they burst.</p>"), 0o600))
	var last string
	require.Eventually(t, func() bool {
		last = said(t, url, "key", canvas, "Can I return balloons?")
		return strings.Contains(last, "until they burst")
	}, patience, poll, "%s", &last)

	var missing map[string]any
	require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(string(shop), `"shop"`, `"cellar"`)), &missing))
	text, err := json.Marshal(missing)
	require.NoError(t, err)
	require.Contains(t, said(t, url, "key", saved(t, url, "key", string(text)), "How long can I return shoes?"),
		`dataset "cellar" does not exist; there are guides, shop`)
	_, err = New(t.Context(), Config{Dir: t.TempDir(), Knowledge: filepath.Join(dir, "missing"), Log: quiet})
	require.ErrorContains(t, err, "missing")
}

// folderDataset checks that a folder is listed as a dataset in both APIs, with its documents and
// their states, and that it cannot be changed. It returns the id.
func folderDataset(t *testing.T, url, name string) string {
	t.Helper()
	type list struct {
		Items []struct {
			ID       string
			Name     string
			ReadOnly bool `json:"read_only"`
			State    string
			Chunks   int
			Source   string
		}
		Total int
	}
	var sets, documents, chunks list
	call(t, "GET", url+"/api/v2/datasets?name="+name, "", &sets)
	require.Len(t, sets.Items, 1)
	set := sets.Items[0]
	require.True(t, set.ReadOnly)
	require.Equal(t, name, set.Name)
	at := url + "/api/v2/datasets/" + set.ID
	call(t, "GET", at+"/documents", "", &documents)
	require.NotEmpty(t, documents.Items)
	for _, d := range documents.Items {
		require.Equal(t, "done", d.State)
		require.Equal(t, "folder", d.Source)
		require.Positive(t, d.Chunks)
	}
	call(t, "GET", at+"/documents/"+documents.Items[0].ID+"/chunks", "", &chunks)
	require.Equal(t, documents.Items[0].Chunks, chunks.Total)
	var ragflow struct {
		Code int
		Data []struct {
			ID            string
			DocumentCount int `json:"document_count"`
		}
	}
	call(t, "GET", url+"/api/v1/datasets?name="+name, "", &ragflow)
	require.Len(t, ragflow.Data, 1)
	require.Equal(t, set.ID, ragflow.Data[0].ID)
	require.Equal(t, len(documents.Items), ragflow.Data[0].DocumentCount)
	var removed struct{ Code int }
	call(t, "DELETE", url+"/api/v1/datasets", `{"ids":["`+set.ID+`"]}`, &removed)
	require.NotZero(t, removed.Code)
	return set.ID
}
