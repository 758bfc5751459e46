package datasets_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// A page at an address becomes a document in both dialects, which is parsed like a file.
func TestPagesBecomeDocuments(t *testing.T) {
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/returns" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<h1>Returns</h1><p>Goods can be returned within 30 days.</p>"))
	}))
	t.Cleanup(pages.Close)
	s := apitest.New(t, func(c *apitest.Config) { c.Fetch = &web.Client{AllowPrivate: true} })
	for name, base := range dialects {
		id := s.Good(s.Post(base+"/datasets", `{"name":"pages `+name+`"}`)).Data().Get("id").Str()
		crawl := func(path string) apitest.Answer {
			if name == "new" {
				return s.Post(base+"/datasets/"+id+"/documents?type=web",
					`{"name":"returns","url":"`+pages.URL+path+`"}`)
			}
			body, kind := formOf(nil, url.Values{"kb_id": {id}, "name": {"returns"}, "url": {pages.URL + path}})
			return s.Request("POST", "/v1/document/web_crawl", "one", body, "Content-Type", kind)
		}
		a := crawl("/unknown")
		require.Equal(t, 101, a.Code())
		require.Equal(t, "The page cannot be fetched: its server returns status 404.", a.Message())
		s.Good(crawl("/returns"))
		doc := s.Good(s.Get(base + "/datasets/" + id + "/documents")).Data().Get("docs").At(0)
		require.Equal(t, "returns.html", doc.Get("name").Str())
		require.Equal(t, "web", doc.Get("source_type").Str())
		documents := base + "/datasets/" + id + "/documents"
		s.Good(s.Post(base+"/datasets/"+id+"/chunks", `{"document_ids":["`+doc.Get("id").Str()+`"]}`))
		require.Eventually(t, func() bool {
			return s.Good(s.Get(documents)).Data().Get("docs").At(0).Get("run").Str() == "DONE"
		}, 2*time.Minute, 5*time.Millisecond)
		chunks := s.Good(s.Get(documents + "/" + doc.Get("id").Str() + "/chunks")).Data().Get("chunks")
		require.Contains(t, chunks.At(0).Get("content").Str(), "Goods can be returned")
	}
}
