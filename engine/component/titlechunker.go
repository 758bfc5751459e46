package component

import (
	"context"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/chunk"
)

// TitleChunker splits text at its headings.
type TitleChunker struct {
	engine.Common
	Method    string       `json:"method" label:"Do" doc:"one chunk per path of headings, or adjacent sections merged" options:"hierarchy=One per path|group=Merge neighbours" default:"hierarchy"`
	Hierarchy engine.Value `json:"hierarchy" label:"Down to level" doc:"level of headings down to which text is split" widget:"number"`
	Levels    engine.Value `json:"levels" label:"Rules" doc:"alternative lists of patterns; the list that matches most lines is used" shape:"lists of patterns, one pattern for each level" widget:"value"`
	Heading   bool         `json:"include_heading_content" label:"Chunks of upper headings" doc:"also create chunks of upper headings with text of their own"`
	Root      bool         `json:"root_chunk_as_heading" label:"First chunk before all" doc:"put the first chunk before all others"`
	Limit     int          `json:"chunk_token_cap" label:"Largest chunk" doc:"tokens above which a chunk is split at sentences" unit:"tokens" default:"512" min:"0"`
	titles    chunk.Titles
	manual    bool // the node is a ManualChunker
}

var titleChunkerSpec = engine.Spec{
	Name:  "TitleChunker",
	Title: "Split by headings", Search: []string{"chunk", "heading", "title", "分块"},
	Aliases: []string{"HierarchicalMerger", manualChunker}, Upgrade: upgradeTitles,
	Doc: "Splits text at its headings.", FromForm: titleChunkerFromForm,
	New:     func() engine.Component { return &TitleChunker{} },
	Outputs: chunksOutput, Ignores: []string{chunkerParam},
}

// manualChunker is the name of a TitleChunker that merges neighbours, in pipelines of RAGFlow's Go
// server. There it also sorts the parts of PDF pages by their positions.
const manualChunker = "ManualChunker"

// chunkerParam has the name that a step has in the document, for its warnings.
const chunkerParam = "chunker"

// upgradeTitles converts params under an earlier name. HierarchicalMerger has the levels in the
// outer list and patterns that match anywhere in a line; they become one list of patterns.
func upgradeTitles(earlier string, params engine.Value) engine.Value {
	if earlier == manualChunker {
		return params.With("method", engine.String("group")).With(chunkerParam, engine.String(earlier))
	}
	levels := params.Get("levels")
	if levels.Kind() != engine.KindList {
		return params
	}
	var patterns []string
	for _, level := range levels.Elements() {
		var list []string
		for _, p := range level.Elements() {
			if p.Kind() != engine.KindString {
				return params
			}
			list = append(list, anywhere(p.Str()))
		}
		if len(list) > 0 {
			patterns = append(patterns, strings.Join(list, "|"))
		}
	}
	return params.With("levels", engine.List(engine.Strings(patterns...)))
}

// anywhere returns a pattern anchored at the start of a line that matches where p matches anywhere.
func anywhere(p string) string {
	if strings.HasPrefix(p, "^") {
		return p
	}
	return ".*?(?:" + p + ")"
}

// Warnings reports what a ManualChunker does not do.
func (t *TitleChunker) Warnings() []engine.Diagnostic {
	if !t.manual {
		return nil
	}
	return []engine.Diagnostic{{Message: manualChunker + " runs as a TitleChunker that merges neighbours: " +
		"parts of a page stay in the order of the parser"}}
}

// Init reads the levels.
func (t *TitleChunker) Init(s *engine.Setup) error {
	t.manual = s.Params.Get(chunkerParam).Str() == manualChunker
	t.titles = chunk.Titles{
		Group: t.Method == "group", EachHeading: t.Heading, RootAsHeading: t.Root, Limit: t.Limit,
	}
	for i, level := range t.Levels.Elements() {
		list, err := textList(s, "levels["+string(rune('0'+min(i, 9)))+"]", level)
		if err != nil {
			return err
		}
		t.titles.Levels = append(t.titles.Levels, list)
	}
	if len(t.titles.Levels) == 0 {
		return s.Fail("levels", t.Levels, "is empty; expected a list of lists of patterns")
	}
	if err := t.titles.Check(); err != nil {
		return s.Fail("levels", engine.Null, err.Error())
	}
	depth, ok := t.Hierarchy.Int()
	if !ok && t.Hierarchy.Kind() == engine.KindString { // forms save numbers as texts
		var v engine.Value
		if v, ok = engine.ParseNumber(t.Hierarchy.Str()); ok {
			depth, ok = v.Int()
		}
	}
	switch {
	case ok:
		t.titles.Depth = int(depth)
	case !t.Hierarchy.IsNull() && t.Hierarchy.Truthy():
		return s.Fail("hierarchy", t.Hierarchy, "is not a level; expected a number")
	case !t.titles.Group:
		return s.Fail("hierarchy", t.Hierarchy,
			"is missing; expected the level of headings down to which text is split")
	}
	return nil
}

// Run splits the output of the previous node.
func (t *TitleChunker) Run(_ context.Context, call *engine.Call) error {
	p, err := previousPayload(call)
	if err != nil {
		return err
	}
	titles := t.titles
	titles.Count = counter(call)
	var chunks []chunk.Chunk
	if p.isText() {
		chunks, err = titles.Text(p.text, p.format == formatText)
	} else {
		chunks, err = titles.Items(p.chunkItems())
	}
	if err != nil {
		return err
	}
	outChunks(call, p.name, chunkValues(chunks))
	return nil
}
