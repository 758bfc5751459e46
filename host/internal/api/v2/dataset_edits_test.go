package v2_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

const pipelineDSL = `{"components":{` +
	`"File":{"obj":{"component_name":"File","params":{}},"downstream":["TokenChunker:A"],"upstream":[]},` +
	`"TokenChunker:A":{"obj":{"component_name":"TokenChunker","params":{}},"downstream":[],"upstream":["File"]}}}`

// parsedDocument makes a dataset with one parsed document, and returns both.
func parsedDocument(t *testing.T, s *apitest.Site, name, text string) (dataset, document string) {
	id, docs := uploaded(s, name, text)
	path := "/api/v2/datasets/" + id
	done := follow(t, s, path+"/events", `{"documents":["`+docs[0]+`"]}`, path+"/parse")
	require.Equal(t, docs, done)
	return id, docs[0]
}

func contentsOf(list engine.Value) (out []string) {
	for _, v := range list.Get("items").Elements() {
		out = append(out, v.Get("content").Str())
	}
	return out
}

func TestChunkIsSplitInPlaceAndMergedAgain(t *testing.T) {
	s := apitest.New(t)
	id, doc := parsedDocument(t, s, "rules.md", "# One\n\nFirst rule. Second rule.\n\n# Two\n\nThird rule.")
	s.As("one", "PATCH", "/api/v2/datasets/"+id, `{"method":"naive"}`, 200)
	chunks := "/api/v2/datasets/" + id + "/documents/" + doc + "/chunks"
	before := s.As("one", "GET", chunks, "", 200)
	require.Equal(t, 2, before.Get("items").Len(), before.JSON())
	first := before.Get("items").At(0)
	one := chunks + "/" + first.Get("id").Str()
	s.As("one", "PATCH", one, `{"keywords":["law"]}`, 200)
	require.Equal(t, contentsOf(before), contentsOf(s.As("one", "GET", chunks, "", 200)), "in its place")
	stale := `{"first":"First rule.","second":"Second rule.","version":"` + first.Get("version").Str() + `"}`
	refused := s.As("one", "POST", one+"/split", stale, 409)
	require.Equal(t, "changed", refused.Get("error").Get("code").Str(), refused.JSON())

	second := s.As("one", "POST", one+"/split", `{"first":"First rule.","second":"Second rule."}`, 200)
	after := s.As("one", "GET", chunks, "", 200)
	third := before.Get("items").At(1).Get("content").Str()
	require.Equal(t, []string{"First rule.", "Second rule.", third}, contentsOf(after), "the rest follows at once")
	again := s.As("one", "POST", one+"/split", `{"first":"First","second":"Second rule."}`, 409)
	require.Equal(t, "exists", again.Get("error").Get("code").Str())
	s.As("one", "POST", one+"/split", `{"first":" ","second":"x"}`, 422)
	v := s.As("one", "GET", "/api/v2/datasets/"+id+"/documents/"+doc, "", 200)
	require.Equal(t, "3", v.Get("chunks").Text())

	s.As("one", "PATCH", chunks+"/"+second.Get("id").Str(), `{"keywords":["order"],"content":"Rule two."}`, 200)
	require.Equal(t, []string{"First rule.", "Rule two.", third}, contentsOf(s.As("one", "GET", chunks, "", 200)),
		"an edited chunk keeps its place")
	body := `{"with":"` + second.Get("id").Str() + `","content":"First rule. Rule two.","with_version":"` +
		second.Get("version").Str() + `"}`
	s.As("one", "POST", one+"/merge", body, 409)
	merged := s.As("one", "POST", one+"/merge", strings.Replace(body, "with_version", "ignored", 1), 422)
	require.Contains(t, merged.JSON(), "ignored")
	body = `{"with":"` + second.Get("id").Str() + `","content":"First rule. Rule two."}`
	merged = s.As("one", "POST", one+"/merge", body, 200)
	require.Equal(t, 2, merged.Get("keywords").Len(), merged.JSON())
	require.Equal(t, []string{"First rule. Rule two.", third}, contentsOf(s.As("one", "GET", chunks, "", 200)))
	s.As("one", "POST", one+"/merge", `{"with":"`+first.Get("id").Str()+`","content":"x"}`, 422)
	s.As("one", "POST", one+"/merge", `{"with":"`+second.Get("id").Str()+`","content":"x"}`, 404)
}

func TestManyDocumentsAreChangedAtOnce(t *testing.T) {
	s := apitest.New(t)
	id, docs := uploaded(s, "a.md", "# A\n\nApples.", "b.md", "# B\n\nPears.")
	path := "/api/v2/datasets/" + id
	ids := `["` + strings.Join(docs, `","`) + `","none"]`
	v := s.As("one", "PATCH", path+"/documents", `{"documents":`+ids+`,"method":"one","enabled":false}`, 200)
	require.Equal(t, "2", v.Get("accepted").Text(), v.JSON())
	require.Equal(t, "not_found", v.Get("refused").At(0).Get("code").Str())
	for _, doc := range docs {
		d := s.As("one", "GET", path+"/documents/"+doc, "", 200)
		require.Equal(t, "one", d.Get("method").Str())
		require.False(t, d.Get("enabled").Truthy())
	}
	s.As("one", "PATCH", path+"/documents", `{"documents":`+ids+`,"method":"sliced"}`, 422)
	s.As("one", "PATCH", path+"/documents", `{"documents":[],"method":"one"}`, 422)
	s.As("one", "PATCH", path+"/documents", `{"documents":`+ids+`}`, 422) // nothing to change
	s.As("two", "PATCH", path+"/documents", `{"documents":`+ids+`,"method":"one"}`, 404)
	done := follow(t, s, path+"/events", `{"documents":["`+docs[0]+`"]}`, path+"/parse")
	require.Equal(t, docs[:1], done)

	v = s.As("one", "DELETE", path+"/documents", `{"documents":`+ids+`}`, 200)
	require.Equal(t, "2", v.Get("accepted").Text(), v.JSON())
	require.Equal(t, "0", s.As("one", "GET", path+"/documents", "", 200).Get("total").Text())
}

func TestUploadRefusesCopiesAndUnreadableFiles(t *testing.T) {
	s := apitest.New(t)
	id, docs := uploaded(s, "a.md", "# A\n\nApples.")
	path := "/api/v2/datasets/" + id + "/documents"
	post := func(name, text, query string) apitest.Answer {
		body, kind := apitest.Form(name, text)
		return s.Request("POST", path+query, "one", body, "Content-Type", kind)
	}
	const strict = "?refuse=duplicates,unreadable"
	a := post("copy.md", "# A\n\nApples.", strict)
	require.Equal(t, 409, a.Status, a.Text)
	require.Equal(t, "exists", a.Body.Get("error").Get("code").Str())
	require.Contains(t, a.Body.Get("error").Get("message").Str(), `"a.md"`)
	for name, text := range map[string]string{"empty.md": "", "run.exe": "MZ\x90\x00\x03\x00\x00\x00"} {
		require.Equal(t, 422, post(name, text, strict).Status, name)
	}
	require.Equal(t, 422, post("a\tb.md", "x", "").Status, "control characters")
	require.Equal(t, 400, post("x.md", "x", "?refuse=all").Status)
	require.Equal(t, 201, post("copy.md", "# A\n\nApples.", "").Status, "only when it is asked for")
	require.Equal(t, "2", s.As("one", "GET", path, "", 200).Get("total").Text())

	body, kind := apitest.Form("b.txt", "Pears.")
	put := s.Request("PUT", path+"/"+docs[0]+"/content", "one", body, "Content-Type", kind)
	require.Equal(t, 200, put.Status, put.Text)
	require.Equal(t, docs[0], put.Body.Get("id").Str())
	require.Equal(t, "a.txt", put.Body.Get("name").Str())
	require.Equal(t, "unparsed", put.Body.Get("state").Str())
	require.Equal(t, "Pears.", s.Request("GET", path+"/"+docs[0]+"/content", "one", "").Text)
	body, kind = apitest.Form("b.exe", "MZ\x90\x00\x03\x00\x00\x00")
	put = s.Request("PUT", path+"/"+docs[0]+"/content", "one", body, "Content-Type", kind)
	require.Equal(t, 422, put.Status, put.Text)
	require.Equal(t, "Pears.", s.Request("GET", path+"/"+docs[0]+"/content", "one", "").Text, "nothing is lost")
}

func TestReplacedFileIsSearchedAfterItsParse(t *testing.T) {
	s := apitest.New(t)
	id, doc := parsedDocument(t, s, "fruit.md", "# Fruit\n\nApples.")
	path := "/api/v2/datasets/" + id
	body, kind := apitest.Form("fruit.md", "# Fruit\n\nPears.")
	put := s.Request("PUT", path+"/documents/"+doc+"/content", "one", body, "Content-Type", kind)
	require.Equal(t, 200, put.Status, put.Text)
	old := s.As("one", "GET", path+"/documents/"+doc+"/chunks", "", 200)
	require.Contains(t, contentsOf(old)[0], "Apples", "the old chunks stay until the new ones are complete")
	follow(t, s, path+"/events", `{"documents":["`+doc+`"]}`, path+"/parse")
	require.Contains(t, contentsOf(s.As("one", "GET", path+"/documents/"+doc+"/chunks", "", 200))[0], "Pears")
}

func TestPreviewStoresNothing(t *testing.T) {
	s := apitest.New(t)
	id, docs := uploaded(s, "a.md", "# A\n\nApples.\n\n# B\n\nPears.")
	doc := "/api/v2/datasets/" + id + "/documents/" + docs[0]
	v := s.As("one", "POST", doc+"/preview", `{"method":"structure"}`, 200)
	require.Equal(t, "2", v.Get("total").Text(), v.JSON())
	require.Equal(t, "1", s.As("one", "POST", doc+"/preview", `{"method":"one"}`, 200).Get("total").Text())
	s.As("one", "POST", doc+"/preview", `{"method":"naive","config":{"chunk_token_num":-1}}`, 422)
	s.As("one", "POST", doc+"/preview", `{"method":"sliced"}`, 422)
	s.As("two", "POST", doc+"/preview", `{"method":"one"}`, 404)
	require.Equal(t, "unparsed", s.As("one", "GET", doc, "", 200).Get("state").Str())
}

func TestDatasetTakesPipelinesOnly(t *testing.T) {
	s := apitest.New(t)
	canvas := func(title, dsl string) string {
		v := s.As("one", "POST", "/api/v2/canvases", `{"title":"`+title+`","dsl":`+dsl+`}`, 201)
		return v.Get("id").Str()
	}
	agent, pipeline := canvas("Agent", apitest.Echo), canvas("Cut", pipelineDSL)
	list := s.As("one", "GET", "/api/v2/canvases?kind=pipeline", "", 200)
	require.Equal(t, "1", list.Get("total").Text(), list.JSON())
	require.Equal(t, pipeline, list.Get("items").At(0).Get("id").Str())
	require.Equal(t, "pipeline", list.Get("items").At(0).Get("kind").Str())
	s.As("one", "GET", "/api/v2/canvases?kind=robot", "", 400)
	id, docs := uploaded(s, "a.md", "Apples.")
	path := "/api/v2/datasets/" + id
	for _, wrong := range []string{agent, "elsewhere"} {
		v := s.As("one", "PATCH", path, `{"pipeline":"`+wrong+`"}`, 422)
		require.Contains(t, v.JSON(), "canvas")
		s.As("one", "POST", "/api/v2/datasets", `{"name":"x","pipeline":"`+wrong+`"}`, 422)
		s.As("one", "PATCH", path+"/documents/"+docs[0], `{"pipeline":"`+wrong+`"}`, 422)
	}
	s.As("one", "PATCH", path, `{"pipeline":"`+pipeline+`","method":""}`, 200)
}

func TestCanvasesThatSearchADataset(t *testing.T) {
	s := apitest.New(t)
	id, _ := uploaded(s)
	dsl := strings.Replace(`{"components":{`+
		`"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["Retrieval:A"]},`+
		`"Retrieval:A":{"obj":{"component_name":"Retrieval","params":{"kb_ids":["ID"]}},`+
		`"upstream":["begin"]}}}`, "ID", id, 1)
	s.As("one", "POST", "/api/v2/canvases", `{"title":"Help desk","dsl":`+dsl+`}`, 201)
	s.As("one", "POST", "/api/v2/canvases", `{"title":"Echo","dsl":`+apitest.Echo+`}`, 201)
	v := s.As("one", "GET", "/api/v2/datasets/"+id+"/canvases", "", 200)
	require.Equal(t, 1, v.Get("items").Len(), v.JSON())
	require.Equal(t, "Help desk", v.Get("items").At(0).Get("title").Str())
	s.As("two", "GET", "/api/v2/datasets/"+id+"/canvases", "", 404)
}

// A document names a dataset by its name too, whose characters JSON may escape.
func TestCanvasesThatSearchADatasetByName(t *testing.T) {
	s := apitest.New(t)
	id := s.As("one", "POST", "/api/v2/datasets", `{"name":"R&D <K\u00e4se>"}`, 201).Get("id").Str()
	for _, name := range []string{"R&D <Käse>", `R\u0026D \u003cK\u00e4se\u003e`, "D <K"} {
		dsl := strings.Replace(`{"components":{`+
			`"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["Retrieval:A"]},`+
			`"Retrieval:A":{"obj":{"component_name":"Retrieval","params":{"kb_ids":["NAME"]}},`+
			`"upstream":["begin"]}}}`, "NAME", name, 1)
		s.As("one", "POST", "/api/v2/canvases", `{"title":"Help desk","dsl":`+dsl+`}`, 201)
	}
	v := s.As("one", "GET", "/api/v2/datasets/"+id+"/canvases", "", 200)
	require.Equal(t, 2, v.Get("items").Len(), v.JSON())
}

func TestMetadataIsBounded(t *testing.T) {
	s := apitest.New(t)
	id, docs := uploaded(s, "a.md", "Apples.")
	path := "/api/v2/datasets/" + id
	large := strings.Repeat("x", 1<<20)
	for _, set := range []string{
		`{"key":"","value":"x"}`, `{"key":"a\u0000b","value":"x"}`, `{"key":"k","value":{"a":1}}`,
		`{"key":"k","value":true}`,
		`{"key":"k","value":"` + large + `"}`, `{"key":"` + strings.Repeat("k", 129) + `","value":"x"}`,
	} {
		s.As("one", "PATCH", path+"/metadata", `{"set":[`+set+`]}`, 422)
	}
	set := `{"set":[{"key":"__proto__","value":["x",1]},{"key":"date","value":"2026-11-28"}]}`
	s.As("one", "PATCH", path+"/metadata", set, 200)
	meta := s.As("one", "GET", path+"/documents/"+docs[0], "", 200).Get("metadata")
	require.Equal(t, `{"__proto__":["x",1],"date":"2026-11-28"}`, meta.JSON())
	s.As("one", "PATCH", path+"/documents/"+docs[0], `{"metadata":{"k":"`+large[:100_000]+`"}}`, 422)
}
