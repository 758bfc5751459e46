package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/chunk"
)

// TokenChunker splits text at delimiters and merges small parts.
type TokenChunker struct {
	engine.Common
	DelimiterMode    string       `json:"delimiter_mode" label:"Cut" doc:"where the document is cut" options:"delimiter=At marks|token_size=By length|one=Not at all" default:"delimiter"`
	Size             int          `json:"chunk_token_size" label:"Size" doc:"tokens of a chunk" unit:"tokens" default:"512" min:"1"`
	Delimiters       engine.Value `json:"delimiters" label:"Marks" doc:"where chunks may end; in backticks, where they always end" widget:"words"`
	Overlap          float64      `json:"overlapped_percent" label:"Overlap" doc:"part of a chunk that the next one repeats: a share below 1, or percent up to 90"`
	ChildDelimiters  engine.Value `json:"children_delimiters" label:"Smaller pieces for search" doc:"where chunks are split into smaller ones for searching" widget:"words"`
	TableContextSize int          `json:"table_context_size" label:"Text kept around tables" doc:"tokens of text to keep around a table" section:"advanced" unit:"tokens" min:"0"`
	ImageContextSize int          `json:"image_context_size" label:"Text kept around pictures" doc:"tokens of text to keep around an image" section:"advanced" unit:"tokens" min:"0"`
	delimiters       []string
	children         []string
}

var tokenChunkerSpec = engine.Spec{
	Name:  "TokenChunker",
	Title: "Split by length", Search: []string{"chunk", "token", "分块"},
	Aliases: []string{"Splitter", "OneChunker"}, Upgrade: upgradeOne,
	Doc: "Splits text into chunks of about equal length.", FromForm: tokenChunkerFromForm,
	New:     func() engine.Component { return &TokenChunker{} },
	Outputs: chunksOutput,
	Ignores: []string{"include_delimiters"},
}

// upgradeOne converts the params of OneChunker, which makes one chunk of a document.
func upgradeOne(earlier string, params engine.Value) engine.Value {
	if earlier == "OneChunker" {
		return params.With("delimiter_mode", engine.String("one"))
	}
	return params
}

// Init reads the lists of delimiters; each may be a single string.
func (t *TokenChunker) Init(s *engine.Setup) (err error) {
	if t.delimiters, err = textList(s, "delimiters", t.Delimiters); err != nil {
		return err
	}
	if t.Delimiters.IsNull() {
		t.delimiters = []string{"\n"}
	}
	t.children, err = textList(s, "children_delimiters", t.ChildDelimiters)
	return err
}

// textList reads a list of strings, or a single string.
func textList(s *engine.Setup, param string, v engine.Value) ([]string, error) {
	switch v.Kind() {
	case engine.KindNull:
		return nil, nil
	case engine.KindString:
		return []string{v.Str()}, nil
	case engine.KindList:
	default:
		return nil, s.Fail(param, v, "is a "+v.Kind().String()+"; expected a list of strings")
	}
	var out []string
	for _, e := range v.Elements() {
		if e.Kind() != engine.KindString {
			return nil, s.Fail(param, v, "contains a "+e.Kind().String()+"; expected a list of strings")
		}
		out = append(out, e.Str())
	}
	return out, nil
}

// Run splits the output of the previous node.
func (t *TokenChunker) Run(_ context.Context, call *engine.Call) error {
	p, err := previousPayload(call)
	if err != nil {
		return err
	}
	c := chunk.Tokens{
		Count: counter(call), Size: t.Size, Delimiters: t.delimiters, Whole: t.DelimiterMode == "one",
		Overlap: chunk.OverlapPercent(t.Overlap), Children: t.children,
		TableContext: t.TableContextSize, ImageContext: t.ImageContextSize,
	}
	if p.isText() {
		outChunks(call, p.name, chunkValues(c.Text(p.text)))
		return nil
	}
	outChunks(call, p.name, chunkValues(c.Items(p.chunkItems())))
	return nil
}
