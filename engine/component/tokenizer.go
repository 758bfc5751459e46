package component

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/pattern"
)

// Tokenizer prepares chunks for search: it numbers them and, where the host embeds, adds a vector
// to each. The dataset that stores the chunks indexes their words.
type Tokenizer struct {
	engine.Common
	SearchMethod   engine.Value `json:"search_method" label:"Search by" doc:"how chunks can be found" widget:"checks" offer:"full_text=Words|embedding=Meaning" want:"Choose how chunks are found."`
	Fields         engine.Value `json:"fields" label:"Fields" doc:"fields of a chunk whose meaning is indexed" widget:"checks" offer:"text=Text|questions=Questions|summary=Summary|keywords=Keywords"`
	FilenameWeight float64      `json:"filename_embd_weight" label:"Weight of the file name" doc:"weight of the file name in the vector" widget:"slider" step:"0.05" default:"0.1" min:"0" max:"1"`
	fields         []string
	embeds         bool
}

var tokenizerSpec = engine.Spec{
	Name:  "Tokenizer",
	Title: "Index", Search: []string{"search", "embedding", "vector", "索引"},
	Doc: "Prepares chunks for search.", New: func() engine.Component { return &Tokenizer{} },
	Outputs: append(chunksOutput[:len(chunksOutput):len(chunksOutput)],
		engine.Field{Name: "embedding_token_consumption", Type: "number", Doc: "number of embedded tokens"}),
}

// Init reads the lists, each of which may be a single string.
func (t *Tokenizer) Init(s *engine.Setup) error {
	methods, err := textList(s, "search_method", t.SearchMethod)
	if err != nil {
		return err
	}
	t.embeds = len(methods) == 0
	for _, m := range methods {
		switch m {
		case "embedding":
			t.embeds = true
		case "full_text":
		default:
			return s.Fail("search_method", t.SearchMethod, "has an unknown method (one of full_text, embedding)")
		}
	}
	if t.fields, err = textList(s, "fields", t.Fields); err != nil {
		return err
	}
	if len(t.fields) == 0 {
		t.fields = []string{"text"}
	}
	return nil
}

// embedBatch is the number of chunks in a request.
const embedBatch = 16

// Run prepares the chunks of the previous node.
func (t *Tokenizer) Run(ctx context.Context, call *engine.Call) error {
	p, err := previousPayload(call)
	if err != nil {
		return err
	}
	chunks := p.chunks()
	for i := range chunks {
		chunks[i] = chunks[i].With("chunk_order_int", engine.Int(int64(i)))
	}
	tokens := 0
	if port := call.Ports().Embedder; port != nil && t.embeds && len(chunks) > 0 {
		if tokens, err = t.embed(ctx, call, port, p.name, chunks); err != nil {
			return err
		}
	}
	call.Out("embedding_token_consumption", engine.Int(int64(tokens)))
	outChunks(call, p.name, chunks)
	return nil
}

// embed sets the vectors of chunks: those of their texts, blended with the vector of the file's
// name.
func (t *Tokenizer) embed(
	ctx context.Context, call *engine.Call, port engine.Embedder, name string, chunks []engine.Value,
) (tokens int, err error) {
	title, tokens, err := port.Embed(ctx, []string{strings.TrimSuffix(name, path.Ext(name))})
	if err == nil && len(title) != 1 {
		err = fmt.Errorf("%d vectors for one text", len(title))
	}
	if err != nil {
		return tokens, fmt.Errorf("embed the name: %w", err)
	}
	for start := 0; start < len(chunks); start += embedBatch {
		if err := call.Canceled(); err != nil {
			return tokens, err
		}
		batch := chunks[start:min(start+embedBatch, len(chunks))]
		texts := make([]string, len(batch))
		for i, c := range batch {
			texts[i] = t.textOf(c, name)
		}
		vectors, n, err := port.Embed(ctx, texts)
		tokens += n
		if err == nil && len(vectors) != len(batch) {
			err = fmt.Errorf("%d vectors for %d texts", len(vectors), len(batch))
		}
		if err != nil {
			return tokens, fmt.Errorf("embed chunks %d to %d: %w", start, start+len(batch)-1, err)
		}
		for i, v := range vectors {
			vector, err := blended(v, title[0], t.FilenameWeight)
			if err != nil {
				return tokens, err
			}
			batch[i] = batch[i].With("q_"+strconv.Itoa(len(v))+"_vec", vector)
		}
		progress(call, float64(start+len(batch))/float64(len(chunks)), fmt.Sprintf("embedded %d of %d chunks",
			start+len(batch), len(chunks)))
	}
	return tokens, nil
}

// tableTags are the tags of tables, which are not embedded.
var tableTags = pattern.MustCompile(`</?(?:table|td|caption|tr|th)(?: [^<>]{0,12})?>`)

// textOf returns the text of a chunk to embed; if empty, the name of the file.
func (t *Tokenizer) textOf(c engine.Value, name string) string {
	var b strings.Builder
	for _, field := range t.fields {
		v := c.Get(field)
		if v.Kind() == engine.KindList {
			for _, line := range v.Elements() {
				b.WriteString(line.Text() + "\n")
			}
			continue
		}
		b.WriteString(v.Text())
	}
	if text := strings.TrimSpace(tableTags.Replace(b.String(), " ")); text != "" {
		return text
	}
	return name // endpoints reject an empty text
}

// blended returns the weighted sum of two vectors.
func blended(text, title []float32, weight float64) (engine.Value, error) {
	if len(text) != len(title) {
		return engine.Null, fmt.Errorf("vectors of %d and %d numbers", len(text), len(title))
	}
	list := make([]engine.Value, len(text))
	for i := range text {
		list[i] = engine.Float(weight*float64(title[i]) + (1-weight)*float64(text[i]))
	}
	return engine.List(list...), nil
}
