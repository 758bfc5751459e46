package component

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// shelf is a retriever that returns fixed passages and records the query.
type shelf struct {
	found engine.Found
	asked []engine.RetrievalQuery
	err   error
}

func (s *shelf) Retrieve(_ context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	s.asked = append(s.asked, *q)
	return s.found, s.err
}

// library is a shelf with metadata.
type labelled struct{ shelf }

func (labelled) Metadata(context.Context, []string) (engine.Value, error) {
	return engine.Object("year", engine.Strings("2024", "2025"), "lang", engine.Strings("en")), nil
}

func full(t *testing.T) *shelf {
	return &shelf{found: engine.Found{Chunks: []engine.Value{
		parse(t, `{"chunk_id": "c1", "content_with_weight": "Alpha", "docnm_kwd": "a\nb.pdf", "url": "http://a", `+
			`"q_3_vec": [1, 2, 3], "vector": [1], "document_metadata": {"year": 2024}}`),
	}}}
}

func TestRetrieval(t *testing.T) {
	port := full(t)
	s := run(t,
		node(t, "Retrieval",
			`{"kb_ids": ["k1", "begin@more", "{begin@more}"], "top_n": 3, "top_k": 9, "similarity_threshold": `+
				`0.5, "keywords_similarity_weight": 0.25, "rerank_id": "r", "use_kg": true, "toc_enhance": true}`, ""),
		nil, "user:find it", parse(t, `{"more": {"value": ["k2", "k3"]}}`), engine.Ports{Retriever: port})
	require.NoError(t, s.err)
	require.Equal(t, engine.RetrievalQuery{
		Text: "find it", Datasets: []string{"k1", "k2", "k3", "k2", "k3"}, TopN: 3, TopK: 9, SimilarityThreshold: 0.5,
		KeywordWeight: 0.25, Rerank: "r", KnowledgeGraph: true, TOC: true,
	}, port.asked[0])
	require.Equal(t, "\nID: 417\n├── Title: a b.pdf\n├── URL: http://a\n├── year: 2024\n└── Content:\nAlpha",
		s.outs.Get("formalized_content").Text())
	require.Equal(t, s.outs.Get("formalized_content"), s.outs.Get("content"))
	require.Equal(t, "", s.outs.Get("json").At(0).Get("q_3_vec").Text()+s.outs.Get("json").At(0).Get("vector").Text())
	require.Equal(t, "c1", s.outs.Get("json").At(0).Get("chunk_id").Text())
}

func TestRetrievalFindsNothing(t *testing.T) {
	for _, c := range []struct {
		name, params, query string
		port                engine.Retriever
		warns               int
	}{
		{"query not set", `{"kb_ids": ["k"], "empty_response": "none for {sys.query}"}`, "", full(t), 0},
		{"an empty query", `{"kb_ids": ["k"], "query": "", "empty_response": "none for {sys.query}"}`, "q", full(t), 0},
		{"source not set", `{"empty_response": "none for {sys.query}"}`, "q", full(t), 0},
		{"nothing found", `{"kb_ids": ["k"], "empty_response": "none for {sys.query}"}`, "q", &shelf{}, 0},
		{"retriever not set", `{"kb_ids": ["k"], "empty_response": "none for {sys.query}"}`, "q", nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := run(t, node(t, "Retrieval", c.params, ""), nil, c.query, engine.Null, engine.Ports{Retriever: c.port})
			require.NoError(t, s.err)
			require.Equal(t, "none for "+c.query, s.outs.Get("formalized_content").Text())
			require.Len(t, s.warnings, c.warns)
		})
	}
}

func TestRetrievalErrors(t *testing.T) {
	s := run(t, node(t, "Retrieval", `{"kb_ids": ["begin@k"]}`, ""), nil, "q", engine.Null,
		engine.Ports{Retriever: full(t)})
	require.ErrorContains(t, s.err, "No dataset is selected.")
	s = run(t, node(t, "Retrieval", `{"kb_ids": ["k"]}`, ""), nil, "q", engine.Null,
		engine.Ports{Retriever: &shelf{err: errors.New("Dataset(k) does not exist.")}})
	require.ErrorContains(t, s.err, "Dataset(k) does not exist.")
	_, err := loadNode("Retrieval", `{"similarity_threshold": 2}`, "")
	require.ErrorContains(t, err, "similarity_threshold")
	_, err = loadNode("Retrieval", `{"meta_data_filter": {"method": "magic"}}`, "")
	require.ErrorContains(t, err, "meta_data_filter.method")
}

// keeper is a memory that returns fixed entries.
type keeper struct{ shelf }

func (*keeper) Remember(context.Context, *engine.Remembered) error { return nil }

func (k *keeper) Recall(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	return k.Retrieve(ctx, q)
}

func TestRetrievalAsksTheMemoryThatIsSearched(t *testing.T) {
	memory, library := &keeper{}, full(t)
	memory.found = engine.Found{Chunks: []engine.Value{parse(t, `{"content": "likes tea"}`)}}
	ports := engine.Ports{Retriever: library, Memory: memory}
	s := run(t, node(t, "Retrieval", `{"memory_ids": ["m1"], "top_n": 3}`, ""), nil, "q", engine.Null, ports)
	require.NoError(t, s.err)
	require.Equal(t, "likes tea", s.outs.Get("formalized_content").Text())
	require.Equal(t, 3, memory.asked[0].TopN)
	require.Empty(t, library.asked)

	s = run(t, node(t, "Retrieval", `{"kb_ids": ["k1"], "memory_ids": ["m1"]}`, ""), nil, "q", engine.Null, ports)
	require.NoError(t, s.err)
	require.Len(t, library.asked, 1, "datasets come first")
	require.Len(t, memory.asked, 1)
}

func TestRetrievalOfMemories(t *testing.T) {
	port := &shelf{found: engine.Found{Chunks: []engine.Value{
		engine.Object("content", "one"),
		engine.Object("content", "two"),
	}}}
	s := run(t, node(t, "Retrieval", `{"memory_ids": ["m1"], "user_id": "{sys.query}"}`, ""), nil, "q", engine.Null,
		engine.Ports{Retriever: port})
	require.NoError(t, s.err)
	require.Equal(t, []string{"m1"}, port.asked[0].Memories)
	require.Equal(t, "q", port.asked[0].UserID)
	require.Equal(t, "one\ntwo", s.outs.Get("formalized_content").Text())
}

func TestRetrievalTranslates(t *testing.T) {
	for answer, want := range map[string]string{"<think>t</think>eins\n===\nun": "eins\nun", "===": "q"} {
		port := full(t)
		m := say(answer)
		run(t, node(t, "Retrieval", `{"kb_ids": ["k"], "cross_languages": ["German", "French"]}`, ""), nil, "q",
			engine.Null, engine.Ports{Retriever: port, Model: m})
		require.Equal(t, want, port.asked[0].Text)
		require.Equal(t, engine.PurposeTranslate, m.asked[0].Purpose)
		require.Contains(t, m.asked[0].System, "German, French")
	}
}

func TestRetrievalFilter(t *testing.T) {
	for _, c := range []struct {
		name, filter, answer, want string
		lists                      bool
	}{
		{"none", `{}`, "", `null`, true},
		{
			"manual, references resolved",
			`{"method": "manual", "logic": "or", "manual": [{"key": "y", "op": "=", "value": "is {sys.query}"}]}`,
			"",
			`{"method": "manual", "logic": "or", "manual": [{"key": "y", "op": "=", "value": "is q"}]}`, true,
		},
		{
			"auto, chosen by the model", `{"method": "auto"}`, `{"conditions": ` +
				`[{"key": "year", "op": "=", "value": "2025"}, {"key": "nope", "op": "="}], "logic": "or"}`,
			`{"method": "auto", "logic": "or", "manual": [{"key": "year", "op": "=", "value": "2025"}]}`, true,
		},
		{"auto, without an answer", `{"method": "auto"}`, "no idea", `{"method": "auto", "manual": []}`, true},
		{
			"semi_auto, operator fixed", `{"method": "semi_auto", "semi_auto": [{"key": "year", "op": ">"}]}`,
			`[{"key": "year", "op": "=", "value": "2024"}]`,
			`{"method": "semi_auto", "logic": "and", "manual": [{"key": "year", "op": ">", "value": "2024"}]}`, true,
		},
		{
			"auto, left to the retriever", `{"method": "auto"}`, "",
			`{"method": "auto", "semi_auto": null, "logic": null}`, false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := say(c.answer)
			plain := full(t)
			known := &labelled{*full(t)}
			var port engine.Retriever = plain
			if c.lists {
				port = known
			}
			s := run(t, node(t, "Retrieval", `{"kb_ids": ["k"], "meta_data_filter": `+c.filter+`}`, ""), nil, "q",
				engine.Null, engine.Ports{Retriever: port, Model: m})
			require.NoError(t, s.err)
			asked := append(plain.asked, known.asked...)
			require.Equal(t, parse(t, c.want).JSON(), asked[0].Filter.JSON())
			if len(m.asked) > 0 {
				require.Equal(t, c.name == "semi_auto, operator fixed", m.asked[0].Choices.Get("lang").IsNull())
			}
		})
	}
}

func TestRetrievalAsTool(t *testing.T) {
	port := full(t)
	m := say(`[{"name": "my_search_0", "arguments": {"query": "alpha"}}]`, complete, "done [ID:417]")
	s := run(t,
		node(t, "Agent",
			`{"tools": [{"component_name": "Retrieval", "params": {"kb_ids": ["k"], "function_name": "my_search"}}]}`,
			""),
		nil, "q", engine.Null, engine.Ports{Retriever: port, Model: m})
	require.NoError(t, s.err)
	require.Equal(t, "alpha", port.asked[0].Text)
	require.Contains(t, m.asked[2].Messages[2].Content, "ID: 417")
	require.Contains(t, m.asked[2].System, citationRules)
}
