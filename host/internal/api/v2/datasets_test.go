package v2_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
)

// uploaded creates a dataset with documents, pairs of name and content, and returns their ids.
func uploaded(s *apitest.Site, files ...string) (dataset string, documents []string) {
	dataset = s.As("one", "POST", "/api/v2/datasets", `{"name":"handbook"}`, 201).Get("id").Str()
	for i := 0; i+1 < len(files); i += 2 {
		body, kind := apitest.Form(files[i], files[i+1])
		a := s.Request("POST", "/api/v2/datasets/"+dataset+"/documents", "one", body, "Content-Type", kind)
		require.Equal(s.T, 201, a.Status, a.Text)
		documents = append(documents, a.Body.Get("items").At(0).Get("id").Str())
	}
	return dataset, documents
}

func TestDatasetFromFileToHit(t *testing.T) {
	s := apitest.New(t)
	id, docs := uploaded(s, "refunds.md", "# Refunds\n\nGoods can be returned within thirty days.",
		"shipping.md", "# Shipping\n\nParcels leave at noon.")
	path := "/api/v2/datasets/" + id
	done := follow(t, s, path+"/events", `{"documents":["`+strings.Join(docs, `","`)+`"]}`, path+"/parse")
	require.ElementsMatch(t, docs, done, "the stream tells the end of each document")

	v := s.As("one", "GET", path, "", 200)
	require.Equal(t, "2", v.Get("documents").Text())
	question := `{"datasets":["` + id + `"],"question":"returned goods","highlight":true}`
	found := s.As("one", "POST", "/api/v2/search", question, 200)
	require.Equal(t, 1, found.Get("hits").Len(), found.JSON())
	hit := found.Get("hits").At(0)
	require.Equal(t, docs[0], hit.Get("document").Str())
	require.Contains(t, hit.Get("highlight").Str(), "<em>")
	words, _ := hit.Get("words").Float()
	require.Positive(t, words)
	require.Equal(t, docs[0], found.Get("documents").At(0).Get("document").Str())

	chunks := s.As("one", "GET", path+"/documents/"+docs[0]+"/chunks?page=1&page_size=1", "", 200)
	require.Equal(t, 1, chunks.Get("items").Len())
	require.Equal(t, "# Refunds", s.Request("GET", path+"/documents/"+docs[0]+"/content", "one", "").Text[:9])
	s.As("one", "DELETE", path, "", 204)
	s.As("one", "GET", path, "", 404)
}

func TestListDatasetsByWords(t *testing.T) {
	s := apitest.New(t)
	for _, name := range []string{"Shop Handbook", "Recipes"} {
		s.As("one", "POST", "/api/v2/datasets", `{"name":"`+name+`"}`, 201)
	}
	for words, want := range map[string]string{"hand": "1", "RECIPES": "1", "o": "1", "none": "0", "": "2"} {
		v := s.As("one", "GET", "/api/v2/datasets?words="+words, "", 200)
		require.Equal(t, want, v.Get("total").Text(), words)
	}
}

func TestDatasetTakesEachListedChunkMethod(t *testing.T) {
	s := apitest.New(t)
	methods := s.As("one", "GET", "/api/v2/chunk-methods", "", 200).Get("items").Slice()
	require.NotEmpty(t, methods)
	for _, v := range methods {
		body := engine.Object("name", "d", "method", v.Get("name")).JSON()
		require.Equal(t, v.Get("name").Str(), s.As("one", "POST", "/api/v2/datasets", body, 201).Get("method").Str())
	}
}

// follow reads a stream of progress, posts a body once it has begun, and returns the documents that
// were done when the dataset became idle again.
func follow(t *testing.T, s *apitest.Site, events, body, post string) (done []string) {
	ctx, stop := context.WithTimeout(t.Context(), datasettest.Patience)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+events, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer one")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, "text/event-stream; charset=utf-8", res.Header.Get("Content-Type"))
	in, event, idle := bufio.NewScanner(res.Body), "", 0
	for in.Scan() {
		if name, ok := strings.CutPrefix(in.Text(), "event: "); ok {
			event = name
		}
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		v, err := engine.ParseJSONText(data)
		require.NoError(t, err)
		switch idle += map[bool]int{true: 1}[event == "idle"]; {
		case event == "document" && v.Get("state").Str() == "done":
			done = append(done, v.Get("id").Str())
		case idle == 1 && event == "idle":
			a := s.As("one", "POST", post, body, 200)
			require.Equal(t, 0, a.Get("refused").Len(), a.JSON())
		case idle == 2:
			return done
		}
	}
	require.NoError(t, in.Err())
	return done
}

func TestDatasetRefusals(t *testing.T) {
	s := apitest.New(t)
	id, docs := uploaded(s, "a.md", "text", "b.md", "text")
	path := "/api/v2/datasets/" + id
	for _, c := range []struct {
		method, path, body string
		status             int
		text               string
	}{
		{"POST", "/api/v2/datasets", `{}`, 422, "name is empty; expected the name of the dataset"},
		{"POST", "/api/v2/datasets", `{"name":""}`, 422, "1 to 128 characters"},
		{"POST", "/api/v2/datasets", `{"name":"x","embedding_model":"no@where"}`, 422, "Unsupported model"},
		{"PATCH", path, `{"pagerank":101}`, 422, "pagerank"},
		{"PATCH", path, `{"synonyms":[["alone"]]}`, 422, "groups of 2 to 20 words"},
		{"POST", "/api/v2/datasets", `{"name":"x","synonyms":[["a"," "]]}`, 422, "groups of 2 to 20 words"},
		{
			"POST", "/api/v2/search", `{"question":"x","datasets":["` + id + `"],"rerank":"lost"}`, 422,
			`reranking model "lost"`,
		},
		{"PATCH", path + "/documents/" + docs[0], `{"name":"b.md"}`, 409, "another document"},
		{"GET", path + "/documents?state=lost", "", 400, "state must be one of"},
		{"GET", path + "/documents?stat=done", "", 400, "did you mean state?"},
		{"POST", path + "/documents", `{}`, 422, "multipart/form-data"},
		{"POST", path + "/parse", `{"documents":[]}`, 422, "documents must name one"},
		{"POST", path + "/documents/" + docs[0] + "/chunks", `{"content":" "}`, 422, "content"},
		{"PATCH", path + "/documents/" + docs[0] + "/chunks/none", `{"content":"x"}`, 404, "not found"},
		{"DELETE", path + "/documents/none", "", 404, "not found"},
		{"POST", "/api/v2/search", `{"question":"x","datasets":[]}`, 422, "datasets must name one"},
		{"POST", "/api/v2/search", `{"question":"x","datasets":["x"],"vector_weight":2}`, 422, "vector_weight"},
		{"POST", "/api/v2/search", `{"question":"x","datasets":["none"]}`, 404, "not found"},
		{
			"POST", "/api/v2/search",
			`{"question":"x","datasets":["` + id + `"],"filter":{"conditions":[{"key":"a","operator":"like"}]}}`,
			422, `unknown operator "like"`,
		},
		{
			"POST", "/api/v2/search", `{"question":"x","datasets":["` + id + `"],"documents":[]}`,
			422, "documents is empty",
		},
		{
			"POST", "/api/v2/search", `{"question":"x","datasets":["` + id + `"],"filter":{"conditions":[]}}`,
			422, "filter has no conditions",
		},
		{"PATCH", path + "/metadata", `{"documents":[],"delete":[{"key":"a"}]}`, 422, "documents is empty"},
		{"PATCH", path + "/metadata", `{"filter":{"or":true},"delete":[{"key":"a"}]}`, 422, "filter has no conditions"},
	} {
		a := s.Request(c.method, c.path, "one", c.body)
		require.Equal(t, c.status, a.Status, "%s %s %s: %s", c.method, c.path, c.body, a.Text)
		require.Contains(t, a.Body.Get("error").Get("message").Str(), c.text, "%s %s", c.method, c.path)
	}
	a := s.As("one", "POST", path+"/cancel", `{"documents":["`+docs[0]+`","none"]}`, 200)
	require.Equal(t, "0", a.Get("accepted").Text())
	require.Equal(t, "changed", a.Get("refused").At(0).Get("code").Str()+a.Get("refused").At(1).Get("code").Str()[9:])
}
