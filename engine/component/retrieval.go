package component

import (
	"context"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Retrieval searches datasets or memories for passages that match a query.
//
// Without a query, a source or a result the output is empty_response. It runs as a node or as a
// tool of an agent. Source: RAGFlow agent/tools/retrieval.py at 80a16e71 (behaviour only).
type Retrieval struct {
	From                string        `json:"retrieval_from" label:"Search in" doc:"where to search; whatever is set if nothing is chosen" shape:"dataset or memory" offer:"dataset=Documents|memory=Memories"`
	MoreDatasets        []engine.Expr `json:"dataset_ids" label:"Datasets" doc:"datasets to search" shape:"ids or names, or references; another name of kb_ids" widget:"datasets" show:"retrieval_from!=memory" alias:"kb_ids"`
	Datasets            []engine.Expr `json:"kb_ids" label:"Datasets" doc:"datasets to search" shape:"ids or names, or references" widget:"datasets" hidden:"true"`
	Memories            []engine.Expr `json:"memory_ids" label:"Memories" doc:"memories to search" widget:"memories" show:"retrieval_from!=dataset"`
	Query               engine.Expr   `json:"query" label:"What to look for" doc:"text to find passages for" default:"{sys.query}"`
	TopN                int           `json:"top_n" label:"Passages" doc:"maximum number of passages" unit:"passages" default:"8" min:"1"`
	SimilarityThreshold float64       `json:"similarity_threshold" label:"Minimum match" doc:"passages below it are left out" section:"advanced" widget:"slider" step:"0.01" default:"0.2" min:"0" max:"1"`
	KeywordWeight       float64       `json:"keywords_similarity_weight" label:"Meaning or words" doc:"0 compares by meaning only, 1 by words only" section:"advanced" widget:"slider" step:"0.05" default:"0.5" min:"0" max:"1"`
	TopK                int           `json:"top_k" label:"Candidates" doc:"number of candidates to rank" section:"advanced" default:"1024" min:"0"`
	Rerank              string        `json:"rerank_id" label:"Reranking model" doc:"sorts the passages again" section:"advanced" widget:"model" kind:"rerank"`
	EmptyResponse       engine.Text   `json:"empty_response" label:"If nothing is found, say" doc:"the output if no passage is found" section:"output"`
	KnowledgeGraph      bool          `json:"use_kg" label:"Knowledge graph" doc:"also search the knowledge graph" section:"advanced"`
	TOC                 bool          `json:"toc_enhance" label:"Tables of contents" doc:"select passages by tables of contents" section:"advanced"`
	CrossLanguages      []string      `json:"cross_languages" label:"Also search in" doc:"languages to translate the query into" section:"advanced"`
	MetadataFilter      engine.Value  `json:"meta_data_filter" label:"Only documents where" doc:"limits the search to documents with such values" shape:"{method: auto, semi_auto or manual, manual: [{key, op, value}], semi_auto: [keys], logic}" section:"advanced" widget:"metadata" show:"retrieval_from!=memory"`
	UserID              engine.Expr   `json:"user_id" label:"Memories of user" doc:"whose memories are searched" section:"advanced" show:"retrieval_from=memory"`
	FunctionName        string        `json:"function_name" label:"Name for the agent" doc:"how the model calls this tool" section:"tools" show:"@tool" default:"search_my_dateset"`
	filter              metadataRules
}

var retrievalSpec = engine.Spec{
	Ignores: []string{"kb_vars"},
	Name:    "Retrieval",
	Title:   "Knowledge search",
	Search:  []string{"rag", "dataset", "document", "pdf", "vector", "memory", "知识库", "文档"}, First: "dataset_ids",
	Category: engine.CategoryKnowledge, Icon: "search",
	Doc:    "Searches datasets or memories for passages that fit a query.",
	New:    func() engine.Component { return &Retrieval{} },
	Inputs: []engine.Field{{Name: "query", Type: "string", Doc: "search query", Required: true}},
	Outputs: []engine.Field{
		{
			Name: "formalized_content", Type: "string",
			Doc: "the passages as text for a prompt, each with its citation number",
		},
		{Name: "json", Type: "list", Doc: "the passages with all their fields"},
		{Name: "content", Type: "string", Doc: "the same as formalized_content"},
	},
	Retries:  true,
	Thoughts: "Searching the knowledge base.",
	Tool: &engine.ToolSpec{
		Function: "search_my_dateset",
		Description: "Searches the user's own documents and returns numbered passages. Use it for all questions " +
			"that these documents may answer.",
		Args: []engine.Field{{
			Name: "query", Type: "string",
			Doc:      "the words or the question to look for; the important terms of the request, in its language",
			Required: true,
		}},
		Result: "formalized_content",
	},
}

// Init prepares the filter on metadata.
func (r *Retrieval) Init(s *engine.Setup) (err error) {
	if r.From != "" && r.From != "dataset" && r.From != "memory" {
		return s.Fail("retrieval_from", engine.String(r.From), "is not supported; expected dataset or memory")
	}
	r.filter, err = readMetadataRules(s, r.MetadataFilter)
	return err
}

// References returns those in the filter.
func (r *Retrieval) References() []engine.Ref { return r.filter.references }

// Names returns the datasets or memories that are searched.
func (r *Retrieval) Names() (list []engine.Named) {
	if r.From != "memory" {
		list = engine.AppendNames(list, engine.Named{Kind: engine.NamedDataset, Param: "kb_ids"}, r.Datasets)
		list = engine.AppendNames(list, engine.Named{Kind: engine.NamedDataset, Param: "dataset_ids"}, r.MoreDatasets)
	}
	if r.From == "memory" || r.From == "" && len(r.Datasets)+len(r.MoreDatasets) == 0 {
		list = engine.AppendNames(list, engine.Named{Kind: engine.NamedMemory, Param: "memory_ids"}, r.Memories)
	}
	return list
}

// Needs returns the port the component uses.
func (*Retrieval) Needs() string { return "Retriever" }

// Run searches.
func (r *Retrieval) Run(ctx context.Context, call *engine.Call) error {
	v, _, err := call.Arg(ctx, "query", &r.Query)
	if err != nil {
		return err
	}
	text := strings.TrimPrefix(v.Text(), "user:")
	q := &engine.RetrievalQuery{
		TopN: r.TopN, TopK: r.TopK, SimilarityThreshold: r.SimilarityThreshold, KeywordWeight: r.KeywordWeight,
		Rerank: r.Rerank, KnowledgeGraph: r.KnowledgeGraph, TOC: r.TOC,
	}
	sources, err := r.sources(ctx, call, q)
	if err != nil {
		return err
	}
	if text == "" || !sources {
		return r.found(ctx, call, engine.Found{}, false)
	}
	if recaller, ok := call.Ports().Memory.(engine.Recaller); ok && len(q.Memories) > 0 {
		return r.recall(ctx, call, recaller, q, text)
	}
	port := call.Ports().Retriever
	if port == nil {
		call.Log(engine.EventWarning, engine.Object("text",
			"Retrieval: no retriever is configured, so nothing is found"))
		return r.found(ctx, call, engine.Found{}, false)
	}
	if q.Text, err = r.translated(ctx, call, text); err != nil {
		return err
	}
	if q.Filter, err = r.filter.prepare(ctx, call, port, q); err != nil {
		return err
	}
	found, err := port.Retrieve(ctx, q)
	if err != nil {
		return err
	}
	for _, text := range found.Diagnostics {
		call.Log(engine.EventWarning, engine.Object("text", "Retrieval: "+text))
	}
	return r.found(ctx, call, found, len(q.Memories) > 0)
}

// recall searches memories.
func (r *Retrieval) recall(
	ctx context.Context, call *engine.Call, memories engine.Recaller, q *engine.RetrievalQuery, text string,
) (err error) {
	if q.Text, err = r.translated(ctx, call, text); err != nil {
		return err
	}
	found, err := memories.Recall(ctx, q)
	if err != nil {
		return err
	}
	return r.found(ctx, call, found, true)
}

// sources sets the datasets or memories to search; it returns false if none is selected.
func (r *Retrieval) sources(ctx context.Context, call *engine.Call, q *engine.RetrievalQuery) (bool, error) {
	datasets := append(r.Datasets[:len(r.Datasets):len(r.Datasets)], r.MoreDatasets...)
	if len(datasets) > 0 && r.From != "memory" {
		ids, err := evalIDs(ctx, call, datasets)
		if err == nil && len(ids) == 0 {
			err = errors.New("No dataset is selected.") //lint:ignore ST1005 clients know exactly this text
		}
		q.Datasets = ids
		return true, err
	}
	if len(r.Memories) == 0 || r.From == "dataset" {
		return false, nil
	}
	ids, err := evalIDs(ctx, call, r.Memories)
	if err != nil {
		return false, err
	}
	user, err := call.Eval(ctx, &r.UserID)
	q.Memories, q.UserID = ids, user.Text()
	return len(ids) > 0, err
}

// evalIDs returns ids, and the values of references to an id or a list of ids.
func evalIDs(ctx context.Context, call *engine.Call, list []engine.Expr) ([]string, error) {
	var ids []string
	for i := range list {
		v, err := call.Eval(ctx, &list[i])
		if err != nil {
			return nil, err
		}
		ids = append(ids, texts(v)...)
	}
	return ids, nil
}

// translated returns the query in all chosen languages, or unchanged if no model can translate it.
func (r *Retrieval) translated(ctx context.Context, call *engine.Call, text string) (string, error) {
	if len(r.CrossLanguages) == 0 || call.Ports().Model == nil {
		return text, nil
	}
	answer, err := call.Generate(ctx, &engine.ModelRequest{
		Purpose: engine.PurposeTranslate, System: translation(r.CrossLanguages), Query: text,
		Messages: []engine.ModelMessage{{Role: "user", Content: text}},
	}, nil)
	if endsNode(err) {
		return "", err
	}
	var lines []string
	for part := range strings.SplitSeq(afterReasoning(answer.Text), "===") {
		if part = strings.TrimSpace(oneLine(part)); part != "" {
			lines = append(lines, part)
		}
	}
	if err != nil || len(lines) == 0 {
		return text, nil // search with the query itself
	}
	return strings.Join(lines, "\n"), nil
}

// found sets the outputs.
func (r *Retrieval) found(ctx context.Context, call *engine.Call, f engine.Found, memory bool) error {
	if len(f.Chunks) == 0 {
		empty, err := call.Render(ctx, &r.EmptyResponse, engine.TextStyle{})
		if err != nil {
			return err
		}
		call.Out("formalized_content", engine.String(empty))
		call.Out("content", engine.String(empty))
		return nil
	}
	text := ""
	if memory {
		var parts []string
		for _, c := range f.Chunks {
			parts = append(parts, first(c, "content", "content_with_weight").Text())
		}
		text = strings.Join(parts, "\n")
	} else {
		text = citePassages(call, f.Chunks, f.DocAggs)
	}
	chunks := make([]engine.Value, len(f.Chunks))
	for i, c := range f.Chunks {
		chunks[i] = withoutVectors(c)
	}
	call.Out("formalized_content", engine.String(text))
	call.Out("json", engine.List(chunks...))
	call.Out("content", engine.String(text))
	return nil
}

// ToolName returns the name of the tool for models.
func (r *Retrieval) ToolName() string { return r.FunctionName }

var (
	_ engine.Component   = (*Retrieval)(nil)
	_ engine.Initializer = (*Retrieval)(nil)
	_ engine.Referrer    = (*Retrieval)(nil)
)
