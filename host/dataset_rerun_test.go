package host

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// lineCutter is a pipeline that cuts texts at semicolons.
var lineCutter = sketch.Chain("File File",
	`Parser:A Parser {"setups": {"text&markdown": {"suffix": ["md"], "output_format": "text"}}}`,
	`TokenChunker:A TokenChunker {"chunk_token_size": 3, "delimiters": ["`+"`;`"+`"]}`)

// rerunFixture is a dataset whose pipeline has cut one document.
type rerunFixture struct {
	*testing.T
	h        *Host
	url      string
	dataset  string
	document string
}

var rerunOwner = app.Principal{Tenant: firstTenantID, User: firstUserID}

func newRerunFixture(t *testing.T) *rerunFixture {
	h, url := open(t, Config{})
	f := &rerunFixture{T: t, h: h, url: url}
	service := h.datasets.Service
	ds, err := service.Create(t.Context(), rerunOwner, dataset.Dataset{
		Name: "shop", Pipeline: saved(t, url, "key", lineCutter), ParseType: 2,
	})
	require.NoError(t, err)
	text := strings.NewReader("one two;three four;five")
	d, err := service.Upload(t.Context(), rerunOwner, ds.ID, app.Upload{Name: "words.md", Body: text})
	require.NoError(t, err)
	f.dataset, f.document = ds.ID, d.ID
	require.NoError(t, service.Parse(t.Context(), rerunOwner, ds.ID, d.ID))
	require.Equal(t, dataset.Done, f.await().State)
	return f
}

// await returns the document when its parse has ended.
func (f *rerunFixture) await() (d dataset.Document) {
	f.Helper()
	require.Eventually(f, func() bool {
		var err error
		d, err = f.h.datasets.Service.Document(f.Context(), rerunOwner, f.dataset, f.document)
		require.NoError(f, err)
		return d.State != dataset.Queued && d.State != dataset.Running
	}, patience, 5*time.Millisecond)
	return d
}

func (f *rerunFixture) contents() (out []string) {
	f.Helper()
	list, _, err := f.h.datasets.Service.Chunks(f.Context(), rerunOwner, f.dataset, f.document, app.ChunkList{Size: -1})
	require.NoError(f, err)
	for _, c := range list {
		out = append(out, c.Content)
	}
	return out
}

func (f *rerunFixture) call(method, path, body string) engine.Value {
	f.Helper()
	text := asked(f.T, f.url, method, path, "application/json", body)
	if text == "" {
		return engine.Null
	}
	v, err := engine.ParseJSONText(text)
	require.NoError(f, err, text)
	return v
}

// A document is parsed again from a node of its pipeline, with the outputs of the nodes before it
// from the request, and each parse has a separate log.
func TestRerunFromANode(t *testing.T) {
	f := newRerunFixture(t)
	require.Equal(t, []string{"one two", "three four", "five"}, f.contents())
	logs := f.call("POST", "/v1/kb/list_pipeline_logs?kb_id="+f.dataset, `{"operation_status":["3"]}`).Get("data")
	require.Equal(t, "1", logs.Get("total").Text(), logs.JSON())
	log := logs.Get("logs").At(0).Get("id").Str()
	detail := f.call("GET", "/v1/kb/pipeline_log_detail?log_id="+log, "").Get("data")
	require.Equal(t, f.document, detail.Get("document_id").Str())
	dsl := detail.Get("dsl")
	require.Contains(t, dsl.JSON(), "three four", "the outputs of the nodes are kept")

	// The output of the parser is replaced: the chunker reads it, and the parser does not run.
	changed := strings.Replace(dsl.JSON(), "one two;three four;five", "six;seven", 1)
	body := engine.Object("id", log, "component_id", "TokenChunker:A", "dsl", engine.Null).JSON()
	a := f.call("POST", "/v1/canvas/rerun", strings.Replace(body, "null", changed, 1))
	require.Equal(t, "true", a.Get("data").Text(), a.JSON())
	d := f.await()
	require.Equal(t, dataset.Done, d.State, d.Messages)
	require.Equal(t, []string{"six", "seven"}, f.contents())
	require.NotContains(t, d.Messages, "[Parser:A] done.")
	require.Contains(t, d.Messages, "[TokenChunker:A] done.")

	logs = f.call("GET", "/0.27/api/v1/datasets/"+f.dataset+"/ingestions", "").Get("data")
	require.Equal(t, "2", logs.Get("total").Text())
	first := f.call("GET", "/0.27/api/v1/datasets/"+f.dataset+"/ingestions/"+log, "").Get("data")
	require.Zero(t, first.Get("dsl").Len(), "only the newest log has the outputs")

	// A parse after it is one from the beginning, although content and settings are the same.
	require.NoError(t, f.h.datasets.Service.Parse(t.Context(), rerunOwner, f.dataset, f.document))
	require.Equal(t, dataset.Done, f.await().State)
	require.Equal(t, []string{"one two", "three four", "five"}, f.contents())
}

// The v2 API reruns with the outputs that the host has stored.
func TestRerunWithKeptOutputs(t *testing.T) {
	f := newRerunFixture(t)
	path := "/api/v2/datasets/" + f.dataset + "/parses"
	list := f.call("GET", path+"?document="+f.document, "")
	require.Equal(t, "1", list.Get("total").Text(), list.JSON())
	log := path + "/" + list.Get("items").At(0).Get("id").Str()
	require.Contains(t, f.call("GET", log, "").Get("canvas").JSON(), "three four")
	f.call("POST", log+"/rerun", `{"node":"TokenChunker:A"}`)
	d := f.await()
	require.Equal(t, dataset.Done, d.State, d.Messages)
	require.Equal(t, []string{"one two", "three four", "five"}, f.contents())
	newest := f.call("GET", path, "").Get("items").At(0)
	require.Equal(t, "TokenChunker:A", newest.Get("node").Str())
	require.Equal(t, "3", newest.Get("chunks").Text())

	require.Contains(t, f.call("POST", log+"/rerun", `{"node":"TokenChunker:A"}`).JSON(), "only the newest log")
	newestPath := path + "/" + newest.Get("id").Str()
	f.call("POST", newestPath+"/rerun", `{"node":"Missing:X"}`)
	d = f.await()
	require.Equal(t, dataset.Failed, d.State)
	require.Contains(t, d.Messages, "Missing:X")
	require.Equal(t, []string{"one two", "three four", "five"}, f.contents(), "the chunks stay")
	require.Contains(t, f.call("GET", path+"/none", "").JSON(), "not found")
}
