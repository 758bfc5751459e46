package datasets_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// dialects are the prefixes of both.
var dialects = map[string]string{"old": "/api/v1", "new": "/0.27/api/v1"}

// TestSearchesOfTheOriginalsTests repeats what RAGFlow's tests of chunks ask: a file and four added
// chunks, searched in pages.
func TestSearchesOfTheOriginalsTests(t *testing.T) {
	s := apitest.New(t)
	var b apitest.Belongings
	s.FurnishDataset(&b)
	for name, base := range dialects {
		chunks := base + "/datasets/" + b.Dataset + "/documents/" + b.Document + "/chunks"
		s.Good(s.Delete(chunks, `{"chunk_ids":null,"delete_all":true}`))
		s.Good(s.Post(chunks, `{"content":"ragflow test upload"}`))
		for i := range 4 {
			s.Good(s.Post(chunks, fmt.Sprintf(`{"content":"chunk test %d"}`, i)))
		}
		ask := func(more string) engine.Value {
			body := `{"question":"chunk","dataset_ids":["` + b.Dataset + `"]` + more + `}`
			return s.Good(s.Post(base+"/retrieval", body)).Data()
		}
		for more, want := range map[string]int{
			``: 4, `,"page":2,"page_size":2`: 2, `,"page":3,"page_size":2`: 0,
			`,"page_size":1`: 1, `,"page_size":"1"`: 1, `,"vector_similarity_weight":0`: 4,
			`,"vector_similarity_weight":0.5`: 4, `,"vector_similarity_weight":10`: 4,
			`,"top_k":10`: 4, `,"top_k":1`: 4, `,"document_ids":["` + b.Document + `"]`: 4, `,"document_ids":null`: 4,
		} {
			found := ask(more)
			require.Equal(t, want, found.Get("chunks").Len(), "%s %s: %s", name, more, found.JSON())
			require.Equal(t, "4", found.Get("total").Text(), "%s %s: the total is that of all pages", name, more)
		}
		for more, marked := range map[string]bool{
			`,"highlight":true`: true, `,"highlight":"True"`: true, `,"highlight":"False"`: false, ``: name == "old",
		} {
			for _, hit := range ask(more).Get("chunks").Elements() {
				_, has := hit.Lookup("highlight")
				require.Equal(t, marked, has, "%s %s", name, more)
			}
		}
		for words, want := range map[string]int{"": 5, "1": 1, "chunk": 4, "ragflow": 1, "unknown": 0} {
			list := s.Good(s.Get(chunks + "?keywords=" + words)).Data()
			require.Equal(t, want, list.Get("chunks").Len(), "%s %q", name, words)
		}
	}
}

// A filter that no document fits is answered without a search: its doc_aggs is an object. One that
// some document fits is searched.
func TestFiltersThatNothingFits(t *testing.T) {
	s := apitest.New(t)
	var b apitest.Belongings
	s.FurnishDataset(&b)
	s.Good(s.Put("/api/v1/datasets/"+b.Dataset+"/documents/"+b.Document, `{"meta_fields":{"author":"ann"}}`))
	for name, base := range dialects {
		for author, want := range map[string]string{"ann": "[]", "ben": "{}"} {
			condition := `{"name":"author","comparison_operator":"is","value":"` + author + `"}`
			found := s.Good(s.Post(base+"/retrieval", `{"question":"unknown","dataset_ids":["`+b.Dataset+`"],
				"metadata_condition":{"conditions":[`+condition+`]}}`))
			require.Equal(t, "0", found.Data().Get("total").Text())
			require.Equal(t, want, found.Data().Get("doc_aggs").JSON(), "%s %s", name, author)
		}
	}
}

// TestDefaultsOfMethods compares the settings of datasets as RAGFlow's tests do.
func TestDefaultsOfMethods(t *testing.T) {
	s := apitest.New(t)
	for name, base := range dialects {
		create := func(more string) engine.Value {
			return s.Good(s.Post(base+"/datasets", `{"name":"`+name+`"`+more+`}`)).Data().Get("parser_config")
		}
		whole := create(``)
		require.Equal(t, "\n", whole.Get("delimiter").Str())
		require.Equal(t, "3", whole.Get("topn_tags").Text())
		require.True(t, whole.Get("raptor").Get("use_raptor").True())
		require.True(t, engine.Equal(whole, create(`,"parser_config":{}`)), "an empty object is none")
		require.True(t, engine.Equal(whole, create(`,"parser_config":null`)))
		part := create(`,"parser_config":{"chunk_token_num":1024,"raptor":{"use_raptor":true}}`)
		require.Equal(t, "1024", part.Get("chunk_token_num").Text())
		require.True(t, part.Get("raptor").Get("use_raptor").True())
		require.False(t, part.Get("graphrag").Get("use_graphrag").True())
		require.Equal(t, `\n`, part.Get("delimiter").Str())

		id := s.Good(s.Post(base+"/datasets", `{"name":"change `+name+`"}`)).Data().Get("id").Str()
		row := s.Good(s.Put(base+"/datasets/"+id, `{"parser_config":{"graphrag":{"community":true}}}`)).Data()
		require.True(t, row.Get("parser_config").Get("graphrag").Get("community").True())
		require.Equal(t, "light", row.Get("parser_config").Get("graphrag").Get("method").Str(), "settings are merged")
		row = s.Good(s.Put(base+"/datasets/"+id, `{"chunk_method":"qa"}`)).Data()
		require.Equal(t, "qa", row.Get("chunk_method").Str())
		wanted := engine.Object("image_context_size", 0, "table_context_size", 0,
			"raptor", engine.Object("use_raptor", false), "graphrag", engine.Object("use_graphrag", false))
		require.Equal(t, sortedJSON(wanted), sortedJSON(row.Get("parser_config")))
	}
}

// sortedJSON is JSON that does not depend on the order of members one level deep.
func sortedJSON(v engine.Value) map[string]string {
	out := map[string]string{}
	for k, x := range v.Fields() {
		out[k] = x.JSON()
	}
	return out
}

// TestDifyAsksForKnowledge makes Dify's request, with the operators and names that its versions
// send.
func TestDifyAsksForKnowledge(t *testing.T) {
	s := apitest.New(t)
	var b apitest.Belongings
	s.FurnishDataset(&b)
	for _, base := range dialects {
		path := base + "/datasets/" + b.Dataset + "/documents/" + b.Document
		s.Good(s.Put(path, `{"meta_fields":{"author":"ann","year":2026}}`))
		ask := func(more string) engine.Value {
			a := s.Post(base+"/dify/retrieval", `{"knowledge_id":"`+b.Dataset+`","query":"secret",
				"retrieval_setting":{"top_k":3,"score_threshold":0.0}`+more+`}`)
			require.Equal(t, 200, a.Status, a.Text)
			return a.Body.Get("records")
		}
		records := ask("")
		require.Equal(t, 1, records.Len())
		require.Equal(t, "my secret chunk", records.At(0).Get("content").Str())
		require.Equal(t, "mine.txt", records.At(0).Get("title").Str())
		meta := records.At(0).Get("metadata")
		require.Equal(t, b.Document, meta.Get("doc_id").Str())
		require.Equal(t, "ann", meta.Get("author").Str())
		for _, c := range []struct {
			logic, name, operator, value string
			want                         int
		}{
			{"logical_operator", `"author"`, "is", `"ann"`, 1},
			{"logic", `["author"]`, "not is", `"ann"`, 0},
			{"logical_operator", `"year"`, "≥", `2026`, 1},
			{"logical_operator", `"author"`, "start with", `"b"`, 0},
		} {
			more := fmt.Sprintf(`{%q:"and","conditions":[{"name":%s,"comparison_operator":%q,"value":%s}]}`,
				c.logic, c.name, c.operator, c.value)
			require.Equal(t, c.want, ask(`,"metadata_condition":`+more).Len(), more)
		}
	}
}

// TestDownloadsAreTheUploadedBytes compares files with what is sent for them.
func TestDownloadsAreTheUploadedBytes(t *testing.T) {
	s := apitest.New(t)
	var b apitest.Belongings
	s.FurnishDataset(&b)
	for _, path := range []string{
		"/api/v1/datasets/" + b.Dataset + "/documents/" + b.Document, "/v1/document/get/" + b.Document,
		"/0.27/api/v1/documents/" + b.Document, "/0.27/api/v1/documents/" + b.Document + "/preview",
	} {
		a := s.Get(path)
		require.Equal(t, "my secret", a.Text, path)
		require.Contains(t, a.Header.Get("Content-Disposition"), "mine.txt")
		require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
	}
}

// TestUploadsOfTheSameName numbers them, and a refused form leaves nothing.
func TestUploadsOfTheSameName(t *testing.T) {
	s := apitest.New(t)
	var b apitest.Belongings
	s.FurnishDataset(&b)
	path := "/api/v1/datasets/" + b.Dataset + "/documents"
	body, kind := formOf([]string{"a.txt", "a.txt", "b.txt"}, nil)
	rows := s.Good(s.Request("POST", path, "one", body, "Content-Type", kind)).Data()
	require.Equal(t, "a.txt a(1).txt b.txt",
		rows.At(0).Get("name").Str()+" "+rows.At(1).Get("name").Str()+" "+rows.At(2).Get("name").Str())
	body, kind = formOf([]string{"c.txt", ""}, nil)
	require.Equal(t, 101, s.Request("POST", path, "one", body, "Content-Type", kind).Code())
	require.Equal(t, "4", s.Good(s.Get(path)).Data().Get("total").Text())
	future := s.Good(s.Get(path + "?create_time_from=9999999999000")).Data()
	require.Zero(t, future.Get("docs").Len())
	require.Equal(t, "4", future.Get("total").Text(), "the total does not depend on times")
}

// Each addition of a chunk raises the chunk count, also of one that the document has; the list has
// it once, and a deletion counts again.
func TestSameChunkTwice(t *testing.T) {
	s := apitest.New(t)
	for name, base := range dialects {
		var b apitest.Belongings
		s.FurnishDataset(&b) // with one chunk
		chunks := base + "/datasets/" + b.Dataset + "/documents/" + b.Document + "/chunks"
		var ids []string
		for range 2 {
			a := s.Good(s.Post(chunks, `{"content":"chunk test"}`))
			ids = append(ids, a.Data().Get("chunk").Get("id").Str())
		}
		require.Equal(t, ids[0], ids[1], name)
		list := s.Good(s.Get(chunks)).Data()
		require.Equal(t, "3", list.Get("doc").Get("chunk_count").Text(), name)
		require.Equal(t, 2, list.Get("chunks").Len(), name)
		s.Good(s.Delete(chunks, `{"chunk_ids":["`+ids[0]+`"]}`))
		list = s.Good(s.Get(chunks)).Data()
		require.Equal(t, "1", list.Get("doc").Get("chunk_count").Text(), name)
	}
}

// A file of the method tag makes chunks that have its tags.
func TestTagsOfAFile(t *testing.T) {
	s := apitest.New(t)
	id := s.Good(s.Post("/api/v1/datasets", `{"name":"tags","chunk_method":"tag"}`)).Data().Get("id").Str()
	documents := "/api/v1/datasets/" + id + "/documents"
	body, kind := apitest.Form("tags.txt", "Goods can be returned\treturns, books")
	doc := s.Good(s.Request("POST", documents, "one", body, "Content-Type", kind)).Data().At(0).Get("id").Str()
	s.Good(s.Post("/api/v1/datasets/"+id+"/chunks", `{"document_ids":["`+doc+`"]}`))
	require.Eventually(t, func() bool {
		return s.Good(s.Get(documents+"?id="+doc)).Data().Get("docs").At(0).Get("run").Str() == "DONE"
	}, 2*time.Minute, 5*time.Millisecond)
	list := s.Good(s.Get("/0.27" + documents + "/" + doc + "/chunks")).Data()
	require.Equal(t, `["returns","books"]`, strings.ReplaceAll(list.Get("chunks").At(0).Get("tag_kwd").JSON(), " ", ""))
}

// A pipeline is a canvas that starts at a file: no other id is taken, in both dialects. Clients
// send whole rows, so the one that a dataset has can be sent again.
func TestPipelinesOfDatasets(t *testing.T) {
	s := apitest.New(t)
	agent := s.Canvas("agent", apitest.Echo)
	const pipeline = `{"components":{
		"File":{"obj":{"component_name":"File","params":{}},"downstream":["Tokenizer:A"],"upstream":[]},
		"Tokenizer:A":{"obj":{"component_name":"Tokenizer","params":{"search_method":["full_text"]}},
			"downstream":[],"upstream":["File"]}}}`
	steps := s.Canvas("steps", pipeline)
	create := func(base, name, id string) apitest.Answer {
		return s.Post(base+"/datasets", `{"name":"`+name+`","parse_type":2,"pipeline_id":"`+id+`"}`)
	}
	for name, base := range dialects {
		for _, id := range []string{agent, strings.Repeat("0", 32)} {
			require.NotEqual(t, 0, create(base, name+" bad", id).Code(), name)
		}
		made := s.Good(create(base, name, steps)).Data()
		require.Equal(t, steps, made.Get("pipeline_id").Str(), name)
		path := base + "/datasets/" + made.Get("id").Str()
		change := func(id string) apitest.Answer {
			return s.Request("PUT", path, "one", `{"name":"`+name+`","parse_type":2,"pipeline_id":"`+id+`"}`)
		}
		require.NotEqual(t, 0, change(agent).Code(), name)
		s.Good(change(steps))
	}
}
