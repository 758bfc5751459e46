package component_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// parsed is a parser port that reads Markdown.
type parsed string

func (p parsed) Parse(_ context.Context, _ engine.Value, _ engine.ParseOptions) ([]block.Block, error) {
	return block.Parse(string(p)), nil
}

// wordCounter counts words.
type wordCounter struct{}

func (wordCounter) CountTokens(text string) int { return len(strings.Fields(text)) }

// echo is a model that answers with a mark and the end of its prompt.
type echo struct {
	mu    sync.Mutex
	asked []*engine.ModelRequest
	say   func(req *engine.ModelRequest) (string, error)
}

func (m *echo) Generate(_ context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	m.mu.Lock()
	m.asked = append(m.asked, req)
	m.mu.Unlock()
	return func(yield func(engine.ModelPiece, error) bool) {
		text, err := m.say(req)
		yield(engine.ModelPiece{Text: text}, err)
	}
}

func upload(name string) engine.Input {
	return engine.Input{Files: engine.List(engine.Object("id", "1", "name", name))}
}

// pipe runs a pipeline on a document.
func pipe(t *testing.T, name, text string, model engine.Model, lines ...string) *seen {
	t.Helper()
	return play(t, upload(name), engine.Ports{Parser: parsed(text), Counter: wordCounter{}, Model: model}, lines...)
}

// chunkTexts returns the texts of the chunks that a node gave.
func chunkTexts(s *seen, node string) (out []string) {
	for _, c := range s.outputs[node].Get("chunks").Elements() {
		out = append(out, c.Get("text").Str())
	}
	return out
}

const handbook = "# Returns\n\nGoods can be sent back.\n\n## Deadlines\n\n| Kind | Days |\n| --- | --- |\n| Books " +
	"| 30 |\n\nNo later.\n"

func TestParserFormats(t *testing.T) {
	for format, want := range map[string]string{
		"markdown": `"` + strings.ReplaceAll(strings.TrimSpace(handbook), "\n", `\n`) + `"`,
		"text":     `"Returns\n\nGoods can be sent back.\n\nDeadlines\n\nKind\tDays\nBooks\t30\n\nNo later."`,
		"html": `"<h1>Returns</h1>\n<p>Goods can be sent back.</p>\n<h2>Deadlines</h2>\n` +
			`<table><tr><th>Kind</th><th>Days</th></tr><tr><td>Books</td><td>30</td></tr></table>\n<p>No later.</p>\n"`,
		"json": `[{"text": "Returns", "doc_type_kwd": "text", "layout_type": "title"}, ` +
			`{"text": "Goods can be sent back.", "doc_type_kwd": "text", "layout_type": "paragraph"}, ` +
			`{"text": "Deadlines", "doc_type_kwd": "text", "layout_type": "title"}, ` +
			`{"text": "<table><tr><th>Kind</th><th>Days</th></tr><tr><td>Books</td><td>30</td></tr></table>",
				"doc_type_kwd": "table", "layout_type": "table"}, ` +
			`{"text": "No later.", "doc_type_kwd": "text", "layout_type": "paragraph"}]`,
	} {
		s := pipe(t, "a.docx", handbook, nil, "File File -> P",
			`P Parser {"setups": {"word": {"suffix": ["docx"], "output_format": "`+format+`"}}}`)
		require.NoError(t, s.err)
		require.Equal(t, format, s.outputs["P"].Get("output_format").Str())
		require.JSONEq(t, want, s.outputs["P"].Get(format).JSON())
	}
}

func TestParserSetups(t *testing.T) {
	for params, want := range map[string]string{
		`{}`: "html", // a sheet
		`{"setups": {"pdf": {"suffix": ["pdf"]}, "spreadsheet": {"suffix": [".XLSX"],
			"output_format": "markdown"}}}`: "markdown",
		`{"spreadsheet": {"output_format": "json"}}`: "json",
	} {
		s := pipe(t, "prices.xlsx", handbook, nil, "File File -> P", "P Parser "+params)
		require.NoError(t, s.err)
		require.Equal(t, want, s.outputs["P"].Get("output_format").Str(), params)
	}
	s := pipe(t, "a.odt", "x", nil, "File File -> P", `P Parser {"setups": {"pdf": {"suffix": ["pdf"]}}}`)
	require.ErrorContains(t, s.err, `no setup for the extension of "a.odt" (one of pdf)`)
	s = pipe(t, "a.mp3", "x", nil, "File File -> P", `P Parser {}`)
	require.ErrorIs(t, s.err, engine.ErrNoPort)
	require.Contains(t, refused(t, "File File -> P", `P Parser {"setups": {"pdf": {"output_format": "docx"}}}`),
		"setups.pdf.output_format")
	require.Contains(t, refused(t, "File File -> P", `P Parser {"setups": {"pdf": "x"}}`), "setups.pdf")
}

// Without a parser the text of the file is read, as for a model.
func TestParserWithoutPort(t *testing.T) {
	s := play(t, upload("a.md"), engine.Ports{Files: texts("\n -----------------\nFile: a.md\nContent as " +
		"following: \n# A\n\nx")},
		"File File -> P", `P Parser {}`)
	require.NoError(t, s.err)
	require.Equal(t, "# A\n\nx", s.outputs["P"].Get("text").Str())
	s = play(t, upload("a.png"), engine.Ports{Files: texts("data:image/png;base64,AA==")}, "File File -> P",
		`P Parser {}`)
	require.ErrorContains(t, s.err, "choose a model that reads images")
	s = play(t, upload("a.md"), engine.Ports{}, "File File -> P", `P Parser {}`)
	require.ErrorIs(t, s.err, engine.ErrNoPort)
}

type texts string

func (f texts) Read(context.Context, engine.Value) (string, error) { return string(f), nil }

func TestParserAsksAModelAboutImages(t *testing.T) {
	m := &echo{say: func(*engine.ModelRequest) (string, error) { return "<think>hm</think># Sign\n\nClosed", nil }}
	s := play(t, upload("a.png"), engine.Ports{Files: texts("data:image/png;base64,AA=="), Model: m}, "File File -> P",
		`P Parser {"setups": {"image": {"suffix": ["png"], "output_format": "markdown", "llm_id": "sees"}}}`)
	require.NoError(t, s.err)
	require.Equal(t, "# Sign\n\nClosed", s.outputs["P"].Get("markdown").Str())
	require.Equal(t, []string{"data:image/png;base64,AA=="}, m.asked[0].Messages[0].Images)
	require.Equal(t, "sees", m.asked[0].LLM)
}

func TestChunkers(t *testing.T) {
	s := pipe(t, "a.docx", handbook, nil, "File File -> P",
		`P Parser {"setups": {"docx": {"output_format": "json"}}} -> S`,
		`S Splitter {"chunk_token_size": 3, "delimiters": ["\n"]} -> T`,
		`T Tokenizer {"fields": "text", "search_method": ["embedding", "full_text"]}`)
	require.NoError(t, s.err)
	require.Equal(t, []string{
		"Returns\nGoods can be sent back.", "Deadlines",
		"<table><tr><th>Kind</th><th>Days</th></tr><tr><td>Books</td><td>30</td></tr></table>", "No later.",
	}, chunkTexts(s, "T"))
	require.Equal(t, "table", s.outputs["T"].Get("chunks").At(2).Get("doc_type_kwd").Str())
	require.Equal(t, "2", s.outputs["T"].Get("chunks").At(2).Get("chunk_order_int").Text())

	s = pipe(t, "a.md", handbook, nil, "File File -> P",
		`P Parser {"setups": {"markdown": {"output_format": "text"}}} -> H`,
		`H TitleChunker {"levels": [["^# ", "^## "]], "hierarchy": 2, "include_heading_content": true} -> C`,
		`C Compiler {"plan": false}`)
	require.NoError(t, s.err)
	require.Equal(t, []string{
		"# Returns\nGoods can be sent back.\n", "# Returns\n## Deadlines\n| Kind | Days |\n| --- | --- |\n| Books " +
			"| 30 |\nNo later.\n",
	}, chunkTexts(s, "C"))
}

// The levels of a HierarchicalMerger are the outer list; they keep their meaning under the new
// name.
func TestUpgradeOfLevels(t *testing.T) {
	c, err := engine.Load(registry(t), sketch.Bytes("File File -> HierarchicalMerger:A",
		`HierarchicalMerger:A HierarchicalMerger {"levels": [["^#[^#]", "part"], ["^##[^#]"]], "hierarchy": 2}`))
	require.NoError(t, err)
	require.JSONEq(t, `[["^#[^#]|.*?(?:part)", "^##[^#]"]]`,
		c.Document().Get("components").Get("TitleChunker:A").Get("obj").Get("params").Get("levels").JSON())
	s := pipe(t, "a.md", "# A\n\nx\n\n## B\n\ny\n\n## C\n\nz", nil, "File File -> P",
		`P Parser {"setups": {"markdown": {"output_format": "text"}}} -> H`,
		`H HierarchicalMerger {"levels": [["^#[^#]"], ["^##[^#]"]], "hierarchy": 2}`)
	require.NoError(t, s.err)
	require.Equal(t, []string{"# A\nx\n## B\ny\n", "# A\nx\n## C\nz\n"}, chunkTexts(s, "H"))
	require.Contains(t, refused(t, "File File -> H", `H TitleChunker {"levels": [["("]], "hierarchy": 1}`), "levels")
	require.Contains(t, refused(t, "File File -> H", `H TitleChunker {"levels": [["#"]]}`), "hierarchy")
}

func TestExtractor(t *testing.T) {
	m := &echo{say: func(req *engine.ModelRequest) (string, error) {
		content := req.Messages[len(req.Messages)-1].Content
		switch {
		case strings.HasPrefix(req.System, "metadata"):
			if strings.Contains(content, "B") {
				return "none", nil
			}
			return "```json\n{\"topic\": \"A\"}\n```", nil
		case strings.HasPrefix(req.System, "toc"):
			return `[{"level": "1", "title": "A", "chunk_id": 0}]`, nil
		}
		return "<think>x</think>" + req.System + " of " + content, nil
	}}
	lines := []string{
		"File File -> P", `P Parser {"setups": {"markdown": {"output_format": "text"}}} -> S`,
		"S Splitter {\"delimiters\": [\"`---`\"]} -> K",
		`K Extractor {"field_name": "keywords", "sys_prompt": "keywords", "prompts": [{"role": "user",
			"content": "Text: {S@chunks}!"}]} -> Q`,
		`Q Extractor {"field_name": "questions", "sys_prompt": "questions", "prompts": "{S:Gone@chunks}"} -> M`,
		`M Extractor {"field_name": "metadata", "sys_prompt": "metadata", "prompts": "about"} -> C`,
		`C Extractor {"field_name": "toc", "sys_prompt": "toc", "prompts": "{M@chunks}"}`,
	}
	s := pipe(t, "a.md", "A---B---C", m, lines...)
	require.NoError(t, s.err)
	chunks := s.outputs["C"].Get("chunks")
	require.JSONEq(t, `{"text": "A", "keywords": "keywords of Text: A!", "questions": "questions of A",
		"metadata": {"topic": "A"}}`, chunks.At(0).JSON())
	require.JSONEq(t, `{"text": "B", "keywords": "keywords of Text: B!", "questions": "questions of B"}`,
		chunks.At(1).JSON())
	require.Equal(t, "toc", chunks.At(3).Get("toc_kwd").Str())
	require.Equal(t, 4, chunks.Len())
	require.Contains(t, strings.Join(s.notes, "\n"), "metadata of a chunk is ignored")
	keys := map[string]bool{}
	for _, req := range m.asked {
		keys[req.Key] = true
	}
	require.Len(t, keys, 10, "each call has a key of its own")

	m.say = func(req *engine.ModelRequest) (string, error) {
		if strings.Contains(req.Messages[0].Content, "B") {
			return "", errors.New("overloaded")
		}
		return "x", nil
	}
	s = pipe(t, "a.md", "A---B---C", m, lines...)
	require.ErrorContains(t, s.err, "chunk 1: overloaded")
}

// vectors embeds the length of texts.
type vectors struct{ calls int }

func (v *vectors) Embed(_ context.Context, list []string) (out [][]float32, tokens int, err error) {
	v.calls++
	for _, text := range list {
		out = append(out, []float32{float32(len(text)), 1})
	}
	return out, len(list), nil
}

func TestTokenizerEmbeds(t *testing.T) {
	port := &vectors{}
	run := func(params string) *seen {
		return play(t, upload("four.md"), engine.Ports{Parser: parsed(strings.Repeat("xy---", 20)), Embedder: port},
			"File File -> P", `P Parser {"setups": {"markdown": {"output_format": "text"}}} -> S`,
			"S Splitter {\"delimiters\": [\"`---`\"]} -> T", "T Tokenizer "+params)
	}
	s := run(`{"filename_embd_weight": 0.5}`)
	require.NoError(t, s.err)
	require.JSONEq(t, `[3, 1]`, s.outputs["T"].Get("chunks").At(19).Get("q_2_vec").JSON())
	require.Equal(t, "21", s.outputs["T"].Get("embedding_token_consumption").Text())
	require.Equal(t, 3, port.calls)
	s = run(`{"search_method": "full_text"}`)
	require.NoError(t, s.err)
	require.Equal(t, 3, port.calls)
	require.Contains(t, refused(t, "File File -> T", `T Tokenizer {"search_method": ["magic"]}`), "search_method")
}

func TestPipelineErrors(t *testing.T) {
	s := play(t, engine.Input{}, engine.Ports{}, "File File -> P", "P Parser {}")
	require.ErrorContains(t, s.err, "a pipeline runs on one file, not 0")
	s = pipe(t, "a.md", "x", nil, "File File -> S", "S Splitter {}")
	require.ErrorContains(t, s.err, "connect a Parser")
}

// A pipeline that is run from a node uses what the nodes before it gave.
func TestRerunFromANode(t *testing.T) {
	c, err := engine.Load(registry(t), sketch.Bytes("File File -> P", `P Parser {} -> S`, `S Splitter {}`))
	require.NoError(t, err)
	st := c.State()
	ports := engine.Ports{Parser: parsed("x"), Counter: wordCounter{}}
	require.NoError(t, playOn(t, c, st, upload("a.md"), ports).err)
	for e, err := range c.Run(t.Context(), st, engine.Input{}, engine.Options{From: "S", Ports: ports}) {
		require.NoError(t, err)
		require.NotEqual(t, "P", e.Node)
	}
	require.Equal(t, "x", st.Outputs("S").Get("chunks").At(0).Get("text").Str())
}

// TestRealPipelines runs the pipelines among real canvas files on a document.
func TestRealPipelines(t *testing.T) {
	folder := os.Getenv("EASEL_CANVASES")
	if folder == "" {
		t.Skip("EASEL_CANVASES is not set: it names a folder with real canvas files, which are not part of the project")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		c, err := engine.Load(registry(t), data)
		require.NoError(t, err)
		if !c.IsPipeline() {
			continue
		}
		for _, name := range []string{"a.pdf", "a.xlsx", "a.docx", "a.md", "a.txt"} {
			t.Run(filepath.Base(file)+" "+name, func(t *testing.T) {
				m := &echo{say: func(*engine.ModelRequest) (string, error) { return `{"a": 1}`, nil }}
				s := playOn(t, c, c.State(), upload(name), engine.Ports{
					Parser:  parsed(handbook),
					Counter: wordCounter{}, Model: m,
				})
				require.NoError(t, s.err)
				last := s.order[len(s.order)-1]
				require.NotEmpty(t, chunkTexts(s, last), last)
				fmt.Fprintln(t.Output(), last, len(chunkTexts(s, last)), "chunks,", len(m.asked), "model calls")
			})
		}
	}
}

// Pipelines of RAGFlow's Go server name chunkers that are modes of others, and an Extractor whose
// extractions are all off.
func TestChunkersOfTheGoServer(t *testing.T) {
	const text = "# A\none\n# B\ntwo\n"
	chunks := func(step string) []string {
		return chunkTexts(pipe(t, "a.md", text, nil, "File File -> P", "P Parser {} -> C", "C "+step), "C")
	}
	require.Equal(t, chunks(`TokenChunker {"delimiter_mode": "one"}`), chunks("OneChunker {}"))
	require.Len(t, chunks("OneChunker {}"), 1)
	const levels = `{"levels": [["^#[^#]"]], "hierarchy": 0, "include_heading_content": false`
	manual := chunks("ManualChunker " + levels + `, "method": "naive"}`)
	require.Equal(t, chunks("TitleChunker "+levels+`, "method": "group"}`), manual)

	const off = `{"keywords": {"top_n": 0}, "questions": {"top_n": 0}, "summary": {"enabled": false}, "llm_id": ""}`
	passed := pipe(
		t, "a.md", text, nil, "File File -> P", "P Parser {} -> O", "O OneChunker {} -> E", "E Extractor "+off,
	)
	require.NotEmpty(t, chunkTexts(passed, "O"))
	require.Equal(t, passed.outputs["O"].Get("chunks").JSON(), passed.outputs["E"].Get("chunks").JSON())
	for _, c := range []struct{ step, problem string }{
		{"Extractor " + off, "is empty and no automatic extraction is on: chunks pass unchanged"},
		{"ManualChunker " + levels + "}", "ManualChunker runs as a TitleChunker that merges neighbours"},
		{`Extractor {"keywords": {"top_n": 3}}`, "is an automatic extraction, which is not supported"},
		{"Extractor {}", "is missing; expected a value"},
	} {
		list := engine.Validate(registry(t), sketch.Bytes("File File -> P", "P Parser {} -> X", "X "+c.step))
		require.Contains(t, fmt.Sprint(list), c.problem, c.step)
	}
}
