package datasets_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// A list of chunks by keywords has those with one of the words in their content, keywords or
// questions, in the order of the document, and marks the words in their contents.
func TestListChunksByKeywords(t *testing.T) {
	s := apitest.New(t)
	var b apitest.Belongings
	s.FurnishDataset(&b)
	path := "/datasets/" + b.Dataset + "/documents/" + b.Document + "/chunks"
	s.Good(s.Delete("/0.27/api/v1"+path, `{"delete_all":true}`))
	add := func(body string) string {
		return s.Good(s.Post("/api/v1"+path, body)).Data().Get("chunk").Get("id").Str()
	}
	money := add(`{"content":"Refunds take ten days","important_keywords":["chargeback"],
		"questions":["Where is my money?"]}`)
	other := add(`{"content":"Eine Überweisung dauert länger"}`)
	s.Good(s.Put("/api/v1"+path+"/"+other, `{"available":false}`))
	for name, base := range dialects {
		list := func(keywords, more string) engine.Value {
			return s.Good(s.Get(base + path + "?keywords=" + url.QueryEscape(keywords) + more)).Data()
		}
		ids := func(v engine.Value) (out []string) {
			for _, c := range v.Get("chunks").Elements() {
				out = append(out, c.Get("id").Str())
			}
			return out
		}
		for _, words := range []string{"refund", "days unknown", "CHARGEBACK", "money"} {
			require.Equal(t, []string{money}, ids(list(words, "")), "%s %s", name, words)
		}
		require.Equal(t, []string{other}, ids(list("ÜBERWEISUNG", "")), name)
		require.ElementsMatch(t, []string{money, other}, ids(list("überweisung refunds", "")), name)
		require.Equal(t, []string{other}, ids(list("überweisung refunds", "&available=false")), name)
		require.Empty(t, ids(list("mine", "")), "%s: the name of the document is no word of its chunks", name)
		require.Empty(t, ids(list("?!", "")), name)
		page := list("überweisung refunds", "&page=2&page_size=1")
		require.Equal(t, 1, page.Get("chunks").Len(), name)
		require.Equal(t, "2", page.Get("total").Text(), name)
		require.Equal(t, "<em>Refunds</em> take ten <em>days</em>",
			list("days refunds", "").Get("chunks").At(0).Get("content").Str(), name)
		require.Equal(t, "Refunds take ten days", list("money", "").Get("chunks").At(0).Get("content").Str(), name)
	}
}

// Rows of 0.27 say that a chunk is text, also that of a chunk that was just added.
func TestTypesOfChunks(t *testing.T) {
	s := apitest.New(t)
	var b apitest.Belongings
	s.FurnishDataset(&b)
	path := "/0.27/api/v1/datasets/" + b.Dataset + "/documents/" + b.Document + "/chunks"
	added := s.Good(s.Post(path, `{"content":"a new one"}`)).Data().Get("chunk")
	require.Equal(t, "text", added.Get("doc_type_kwd").Str())
	for _, c := range s.Good(s.Get(path)).Data().Get("chunks").Elements() {
		require.Equal(t, "text", c.Get("doc_type_kwd").Str())
	}
	one := s.Good(s.Get(path + "/" + b.Chunk)).Data()
	require.Equal(t, "text", one.Get("doc_type_kwd").Str())
	require.Equal(t, b.Chunk, one.Get("id").Str())
	require.Equal(t, "my secret chunk", one.Get("content_with_weight").Str())
	require.Equal(t, b.Document, one.Get("doc_id").Str())
}

// An empty list of documents changes the metadata of none.
func TestMetadataOfNoDocuments(t *testing.T) {
	s := apitest.New(t)
	var b apitest.Belongings
	s.FurnishDataset(&b)
	for name, base := range dialects {
		answer := s.Good(s.Post(base+"/datasets/"+b.Dataset+"/metadata/update",
			`{"selector":{"document_ids":[]},"updates":[{"key":"author","value":"x"}]}`)).Data()
		require.Equal(t, `{"matched_docs":0,"updated":0}`, answer.JSON(), name)
		docs := s.Good(s.Get(base + "/datasets/" + b.Dataset + "/documents")).Data().Get("docs")
		require.Equal(t, "{}", docs.At(0).Get("meta_fields").JSON(), name)
	}
}

// Parsing and stopping report what they did to each document, and an unknown one does not prevent
// the others from being parsed.
func TestParseReportsUnknownDocuments(t *testing.T) {
	s := apitest.New(t)
	var b apitest.Belongings
	s.FurnishDataset(&b)
	base := "/0.27/api/v1/datasets/" + b.Dataset + "/documents"
	stopped := s.Good(s.Post(base+"/stop", `{"document_ids":["`+b.Document+`"]}`)).Data()
	require.Equal(t, "0", stopped.Get("success_count").Text())
	require.Equal(t, `["Can't stop parsing document that has not started or already completed"]`,
		stopped.Get("errors").JSON())
	before := s.Good(s.Get(base)).Data().Get("docs").At(0).Get("update_time").Text()
	a := s.Post(base+"/parse", `{"document_ids":["x","`+b.Document+`"]}`)
	require.Equal(t, 102, a.Code(), a.Text)
	require.Equal(t, "Documents not found: ['x']", a.Message())
	require.NotEqual(t, before, s.Good(s.Get(base)).Data().Get("docs").At(0).Get("update_time").Text())
	s.Good(s.Post(base+"/parse", `{"document_ids":["`+b.Document+`"]}`))
}
