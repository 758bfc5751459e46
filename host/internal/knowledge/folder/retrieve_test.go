package folder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestRetrieve(t *testing.T) {
	f := opened(t, Config{Poll: -1, Root: files(t,
		"shop/terms.md", "# Shipping\n\nIt takes three days.\n\n# Returns\n\nReturns are free for thirty days.",
		"shop/deep/faq.txt", "Gift cards never expire.",
		"shop/logo.bin", "returns",
		"shop/.hidden/x.txt", "returns",
		"shop/中文.md", "# 退货\n\n鞋子可以在三十天内退货，退货是免费的。\n\n# 运费\n\n运费五元。",
		"shop/prices.csv", "article;price\nTent;120\nRope, thin;30\n",
		"shop/staff.json", `[{"name": "Ada", "city": "London"}, {"name": "Grace", "skills": ["sailing", "code"]}]`,
		"shop/log.jsonl", "{\"event\": \"opened branch Oslo\"}\n\n{\"event\": \"closed branch Rome\"}\n",
		"other/x.txt", "Returns of another shop.",
		"top.txt", "Returns at the top.",
	)})
	for _, c := range []struct {
		name, query string
		datasets    []string
		want        string // document of the first hit; "" finds nothing
		holds       string
	}{
		{"a passage", "How long for free returns?", []string{"shop"}, "terms.md", "thirty days"},
		{"files in subfolders", "gift cards", []string{"shop"}, "deep/faq.txt", "never expire"},
		{"several datasets", "another returns shop", []string{"shop", "other"}, "x.txt", "another"},
		{"files in the root", "returns", []string{"."}, "top.txt", "at the top"},
		{"another inflection of the word", "return", []string{"."}, "top.txt", "at the top"},
		{"a Chinese word of two characters", "退货", []string{"shop"}, "中文.md", "三十天"},
		{"a Chinese question", "请问运费多少？", []string{"shop"}, "中文.md", "五元"},
		{"a row of a table", "price of the tent", []string{"shop"}, "prices.csv", "120"},
		{"an element of JSON", "who can do sailing", []string{"shop"}, "staff.json", "Grace"},
		{"a line of JSON", "Oslo", []string{"shop"}, "log.jsonl", "opened"},
		{"a document's name", "faq", []string{"shop"}, "deep/faq.txt", "Gift"},
		{"no match", "weather", []string{"shop"}, "", ""},
		{"a query without words", "?!", []string{"shop"}, "", ""},
		{"empty", "", []string{"shop"}, "", ""},
		{"FTS5 syntax in the query", `returns" OR terms : * NEAR(x) -`, []string{"."}, "top.txt", "top"},
		{"an unknown dataset", "returns", nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := f.Retriever("").Retrieve(t.Context(),
				&engine.RetrievalQuery{Text: c.query, Datasets: c.datasets, TopN: 5})
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, found.Chunks)
				return
			}
			require.NotEmpty(t, found.Chunks)
			require.Equal(t, c.want, found.Chunks[0].Get("docnm_kwd").Str())
			require.Contains(t, found.Chunks[0].Get("content_with_weight").Str(), c.holds)
			require.NotEmpty(t, found.DocAggs)
		})
	}
	for _, name := range []string{"missing", "../shop", "/etc", "shop/deep", "shop/terms.md", ".hidden", "", "@"} {
		_, err := f.Retriever("").Retrieve(t.Context(),
			&engine.RetrievalQuery{Text: "returns", Datasets: []string{name}})
		require.EqualError(t, err, `dataset "`+name+`" does not exist; there are ., other, shop`)
	}
	found, err := f.Retriever("").Retrieve(t.Context(), &engine.RetrievalQuery{
		Text: "returns", Datasets: []string{idOf("shop")}, KnowledgeGraph: true, TOC: true, Rerank: "x",
	})
	require.NoError(t, err)
	require.Len(t, found.Chunks, 1, "one at least")
	require.Len(t, found.Diagnostics, 3)
	found, err = f.Retriever("").Retrieve(t.Context(), &engine.RetrievalQuery{Text: "returns", Memories: []string{"m"}})
	require.NoError(t, err)
	require.Empty(t, found.Chunks, "memories are not available here")
}

func TestMetadata(t *testing.T) {
	f := opened(t, Config{Poll: -1, Root: files(t,
		"a/old.md", "---\nyear: 2019\nlang: \"EN\"\ntags: [news, sport]\nurl: https://example.org/old\n---\nA report.",
		"a/new.md", "---\r\nyear: 2024\r\nlang: de\r\n---\r\n\r\nA report.",
		"a/side.txt", "A report.", "a/side.txt.meta.json", `{"year": 2021, "lang": "fr", "draft": true}`,
		"a/plain.md", "---\nA report, and no metadata above it.\n---\nMore.",
		"a/broken.txt", "A report.", "a/broken.txt.meta.json", "{",
	)})
	meta, err := f.Retriever("").(engine.MetadataLister).Metadata(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.JSONEq(t, `{"draft": ["true"], "lang": ["EN", "de", "fr"], "tags": ["news", "sport"],
		"url": ["https://example.org/old"], "year": ["2019", "2021", "2024"]}`, meta.JSON())
	for _, c := range []struct{ name, filter, want string }{
		{"numbers", `{"method": "manual", "manual": [{"key": "year", "op": ">", "value": "2020"}]}`, "new side"},
		{"equal, ignoring case", `{"method": "manual", "manual": [{"key": "lang", "op": "=", "value": "en"}]}`, "old"},
		{"an unknown key is ignored", `{"method": "manual", "manual": [{"key": "colour", "op": "=", "value": "x"},
			{"key": "lang", "op": "=", "value": "fr"}]}`, "side"},
		{
			"no match for the canvas's conditions",
			`{"method": "manual", "manual": [{"key": "year", "op": "=", "value": "1900"}]}`, "",
		},
		{
			"no match for the model's conditions",
			`{"method": "auto", "manual": [{"key": "year", "op": "=", "value": "1900"}]}`, "new old plain side",
		},
		{"without a filter", `null`, "new old plain side"},
	} {
		t.Run(c.name, func(t *testing.T) {
			filter, err := engine.ParseJSONText(c.filter)
			require.NoError(t, err)
			found, err := f.Retriever("").Retrieve(t.Context(),
				&engine.RetrievalQuery{Text: "report", Datasets: []string{"a"}, TopN: 9, Filter: filter})
			require.NoError(t, err)
			got := map[string]bool{}
			for _, chunk := range found.Chunks {
				require.NotContains(t, chunk.Get("content_with_weight").Str(), "year:")
				name, _, _ := strings.Cut(chunk.Get("docnm_kwd").Str(), ".")
				got[name] = true
			}
			for _, name := range strings.Fields(c.want) {
				require.True(t, got[name], name)
				delete(got, name)
			}
			require.Empty(t, got)
		})
	}
	found, err := f.Retriever("").Retrieve(t.Context(),
		&engine.RetrievalQuery{Text: "report old", Datasets: []string{"a"}, TopN: 1})
	require.NoError(t, err)
	require.Equal(t, "https://example.org/old", found.Chunks[0].Get("url").Str())
	require.Equal(t, "2019", found.Chunks[0].Get("document_metadata").Get("year").Str())
	require.Contains(t, f.document(t, "a", "broken.txt").Messages, "[ERROR] broken.txt.meta.json")
}

// A tenant finds what is for everybody and its own, and nothing shows that others have anything.
func TestTenants(t *testing.T) {
	f := opened(t, Config{Poll: -1, Root: files(t,
		"shop/terms.md", "---\nowner: all\n---\nReturns of everybody.",
		"guide/a.txt", "Returns in a guide.",
		"top.txt", "Returns at the top.",
		"@ada/shop/terms.md", "---\nowner: ada\n---\nReturns of Ada.",
		"@ada/secret/deep/x.txt", "Returns for Ada alone.",
		"@ada/note.txt", "Returns in a note of Ada.",
		"@bob/plans/p.txt", "Returns in the plans of Bob.",
	)})
	find := func(tenant string, datasets ...string) []string {
		found, err := f.Retriever(tenant).Retrieve(t.Context(),
			&engine.RetrievalQuery{Text: "returns", Datasets: datasets, TopN: 9})
		require.NoError(t, err)
		return shown(found)
	}
	require.Equal(t, []string{"terms.md: Returns of Ada."}, find("ada", "shop"), "its own comes first")
	require.Equal(t, []string{"terms.md: Returns of everybody."}, find("bob", "shop"))
	require.Equal(t, []string{"terms.md: Returns of everybody."}, find("", "shop"))
	require.ElementsMatch(t, []string{"deep/x.txt: Returns for Ada alone.", "a.txt: Returns in a guide."},
		find("ada", "secret", "guide"))
	require.ElementsMatch(t, []string{"top.txt: Returns at the top.", "note.txt: Returns in a note of Ada."},
		find("ada", "."))
	require.Equal(t, []string{"top.txt: Returns at the top."}, find("bob", "."))

	for tenant, names := range map[string]string{
		"ada": "., guide, secret, shop", "bob": "., guide, plans, shop", "": "., guide, shop", "@": "., guide, shop",
		"ada/secret": "., guide, shop", "..": "., guide, shop",
	} {
		others := []string{
			"@ada", "@bob", "@bob/plans", "@ada/secret", "cellar", "../@ada/secret", "@", "deep", idOf("@carl/x"),
		}
		if tenant != "ada" {
			others = append(others, idOf("@ada/secret"))
		}
		for _, other := range others {
			_, err := f.Retriever(tenant).Retrieve(t.Context(),
				&engine.RetrievalQuery{Text: "returns", Datasets: []string{other}})
			require.EqualError(t, err, `dataset "`+other+`" does not exist; there are `+names, tenant)
			require.Empty(t, f.Documents(tenant, other))
			_, ok := f.Dataset(tenant, other)
			require.False(t, ok)
			_, err = f.Open(tenant, other, idOf("@ada/secret", "deep/x.txt"))
			require.Error(t, err)
			_, err = f.Retriever(tenant).(engine.MetadataLister).Metadata(t.Context(), []string{other})
			require.ErrorContains(t, err, "does not exist")
		}
	}
	for tenant, owner := range map[string]string{"ada": "ada", "bob": "all", "": "all"} {
		meta, err := f.Retriever(tenant).(engine.MetadataLister).Metadata(t.Context(), []string{"shop"})
		require.NoError(t, err)
		require.Equal(t, owner, meta.Get("owner").At(0).Str())
	}
}

func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{
		"---\nk: v\n---\nx", "---\n---\n", "---", "---\r\na: [1, 2]\r\n---\r\n", "\uFEFF---\nk: v\n---\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		meta, skip := frontMatter(text)
		if skip < 0 || skip > int64(len(text)) || meta == nil && skip > 0 {
			t.Fatalf("metadata %v takes %d of %d bytes", meta, skip, len(text))
		}
		if skip > 0 && !strings.HasSuffix(strings.TrimRight(text[:skip], "\r\n"), "---") {
			t.Fatalf("metadata ends with %q", text[:skip])
		}
	})
}
