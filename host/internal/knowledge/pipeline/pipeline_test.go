package pipeline

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/document/pdftest"
	"github.com/easel-canvas/easel/host/internal/document/write"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
	"github.com/easel-canvas/easel/host/internal/upload/files"
)

func load(t *testing.T, dsl string) *engine.Canvas {
	t.Helper()
	registry, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	c, err := engine.Load(registry, []byte(dsl))
	require.NoError(t, err)
	return c
}

// answers is a model that selects an answer by the first word of its instructions.
type answers map[string]string

func (a answers) Generate(_ context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	word, _, _ := strings.Cut(req.System, " ")
	return func(yield func(engine.ModelPiece, error) bool) { yield(engine.ModelPiece{Text: a[word]}, nil) }
}

var ingestion = sketch.Canvas(
	"File File -> Parser:A",
	`Parser:A Parser {"setups": {"pdf": {"suffix": ["pdf"], "output_format": "json", "parse_method": "DeepDOC"},
		"spreadsheet": {"suffix": ["xlsx", "csv"], "output_format": "html"}, "word": {"suffix": ["docx"],
			"output_format": "json"},
		"slides": {"suffix": ["pptx"], "output_format": "json"}, "email": {"suffix": ["eml"], "output_format": "text",
			"fields": ["subject", "body"]},
		"text&markdown": {"suffix": ["md", "txt"], "output_format": "text"}}} -> Splitter:A`,
	`Splitter:A Splitter {"chunk_token_size": 64, "delimiters": ["\n"]} -> Extractor:K`,
	`Extractor:K Extractor {"field_name": "keywords", "sys_prompt": "keywords please",
		"prompts": [{"role": "user", "content": "{Splitter:A@chunks}"}]} -> Extractor:Q`,
	`Extractor:Q Extractor {"field_name": "questions", "sys_prompt": "questions please",
		"prompts": [{"role": "user", "content": "{Splitter:A@chunks}"}]} -> Extractor:S`,
	`Extractor:S Extractor {"field_name": "summary", "sys_prompt": "summary please",
		"prompts": [{"role": "user", "content": "{Splitter:A@chunks}"}]} -> Extractor:M`,
	`Extractor:M Extractor {"field_name": "metadata", "sys_prompt": "metadata please",
		"prompts": [{"role": "user", "content": "{Splitter:A@chunks}"}]} -> Tokenizer:A`,
	`Tokenizer:A Tokenizer {"search_method": ["embedding", "full_text"], "fields": "text"}`,
)

// realFiles are small documents of many formats with the same content.
func realFiles(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	const markdown = "# Returns\n\nGoods can be returned.\n\n| Kind | Days |\n| --- | --- |\n| Books | 30 |\n"
	var paths []string
	put := func(name string, data []byte) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		paths = append(paths, path)
	}
	for _, format := range []string{"docx", "xlsx", "pdf"} {
		data, err := write.Make(format, markdown)
		require.NoError(t, err)
		put("returns."+format, data)
	}
	put("returns.md", []byte(markdown))
	put("returns.txt", []byte("Goods can be returned.\n\nBooks: 30 days"))
	put("returns.csv", []byte("Kind,Days\nBooks,30\n"))
	put("returns.eml", []byte("Subject: Returns\nFrom: a@example.org\n\nBooks: 30 days\n"))
	put("plain.pdf", pdftest.Pages(pdftest.Text("F1", 12, 50, 100, "Books can be returned within 30 days.")))
	return paths
}

// A pipeline returns chunks of real files, with the model's addition to each.
func TestRunOnRealFiles(t *testing.T) {
	canvas := load(t, ingestion)
	model := answers{
		"keywords": "returns, books", "questions": "How long?\nWhat?", "summary": "<think>x</think>Returns.",
		"metadata": `{"topic": "returns"}`,
	}
	var uploads files.Uploads
	defer uploads.Documents.Close()
	for _, path := range realFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file, err := uploads.Add(path)
			require.NoError(t, err)
			nodes := map[string]bool{}
			r, err := Run(t.Context(), canvas, file, Options{
				Options: engine.Options{Ports: engine.Ports{
					Parser: &uploads, Counter: chunking.Counter{},
					Model: model,
				}},
				Watch: func(e *engine.Event) { nodes[e.Node] = true },
			})
			require.NoError(t, err)
			require.NotEmpty(t, r.Chunks)
			require.True(t, nodes["Tokenizer:A"])
			all := ""
			for _, c := range r.Chunks {
				all += c.Text
				require.Equal(t, []string{"returns", "books"}, c.Keywords)
				require.Equal(t, []string{"How long?", "What?"}, c.Questions)
				require.Equal(t, "Returns.", c.Summary)
				require.Equal(t, "How long?\nWhat?", c.Embedded())
			}
			require.Contains(t, all, "Books")
			require.Contains(t, all, "30")
			require.NotContains(t, all, "a@example.org")
			require.JSONEq(t, `{"topic": "returns"}`, r.Metadata.JSON())
			if strings.HasSuffix(path, ".pdf") {
				require.InDelta(t, 1, r.Chunks[0].Positions[0][0], 0)
			}
		})
	}
}

func TestRunErrors(t *testing.T) {
	_, err := Run(t.Context(), load(t, sketch.Canvas("begin Begin")), engine.Null, Options{})
	require.ErrorIs(t, err, ErrNoPipeline)
	_, err = Run(t.Context(), load(t, ingestion), engine.Object("id", "x", "name", "a.odt"), Options{})
	var node *engine.NodeError
	require.ErrorAs(t, err, &node)
	require.Equal(t, "Parser:A", node.Node)
	_, err = Run(t.Context(), load(t, sketch.Canvas("File File")),
		engine.Object("name", "a"), Options{})
	require.ErrorContains(t, err, "gives no document")
}

// A text output of the last node is one chunk, and fields of other names are kept.
func TestRead(t *testing.T) {
	r := &Result{Outputs: engine.Object("output_format", "text", "text", "a\nb")}
	require.NoError(t, r.read())
	require.Equal(t, "a\nb", r.Chunks[0].Text)
	v, err := engine.ParseJSONText(`{"output_format": "chunks", "embedding_token_consumption": 7, "chunks": [null,
		{"text": " "}, {"text": "x", "mom": "xy",
		"keywords": "**ERROR** no", "q_2_vec": [0.5, 1], "toc_kwd": "toc", "available_int": 0, "metadata": {"a": 1}}]}`)
	require.NoError(t, err)
	r = &Result{Outputs: v}
	require.NoError(t, r.read())
	require.Equal(t, []Chunk{{
		Text: "x", Parent: "xy", Vector: []float32{0.5, 1}, Hidden: true,
		Extra: engine.Object("toc_kwd", "toc"),
	}}, r.Chunks)
	require.Equal(t, int64(7), r.Tokens)
}
