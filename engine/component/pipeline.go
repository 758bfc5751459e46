package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Step is a node of an ingestion pipeline. Pipelines load, validate, draw and are stored unchanged;
// running one is refused.
type Step struct{}

// Warnings says that the node does not run.
func (Step) Warnings() []engine.Diagnostic {
	return []engine.Diagnostic{{
		Code: engine.CodePipeline, Message: "pipelines can be opened and saved, but not run yet",
	}}
}

// Run refuses.
func (Step) Run(context.Context, *engine.Call) error { return engine.ErrPipeline }

// File is where a pipeline starts: the uploaded document.
type File struct{ Step }

// Parser turns a document into text.
type Parser struct {
	Step
	Setups engine.Value `json:"setups" doc:"per kind of file: {parse_method, lang, suffix, output_format, llm_id, ...}"`
}

// TokenChunker cuts text into chunks of about equal length.
type TokenChunker struct {
	Step
	ChunkTokens       int          `json:"chunk_token_size" doc:"tokens of a chunk" default:"512" label:"Tokens per chunk"`
	Delimiters        engine.Value `json:"delimiters" doc:"where chunks may end"`
	Overlap           float64      `json:"overlapped_percent" doc:"share of a chunk that is repeated in the next one" min:"0" max:"1" label:"Overlap"`
	ChildDelimiters   engine.Value `json:"children_delimiters" doc:"where chunks are cut into smaller ones that are searched"`
	TableContextSize  int          `json:"table_context_size" doc:"tokens of text kept around a table" min:"0" label:"Context of tables (tokens)"`
	ImageContextSize  int          `json:"image_context_size" doc:"tokens of text kept around an image" min:"0" label:"Context of images (tokens)"`
	DelimiterMode     string       `json:"delimiter_mode" doc:"delimiter cuts at delimiters, one makes a single chunk"`
	IncludeDelimiters bool         `json:"include_delimiters" doc:"keep the delimiters"`
}

// TitleChunker cuts text along its headings.
type TitleChunker struct {
	Step
	Levels    engine.Value `json:"levels" doc:"patterns of headings, one list per level"`
	Hierarchy engine.Value `json:"hierarchy" doc:"level down to which chunks are made"`
	Method    string       `json:"method" doc:"how headings are found"`
}

// Extractor asks a language model about each chunk.
type Extractor struct {
	Step
	Sampling
	SysPrompt engine.Text  `json:"sys_prompt" doc:"instructions for the model" label:"System prompt"`
	Prompts   engine.Value `json:"prompts" doc:"what is asked: a list of {role, content}, or one text"`
	FieldName string       `json:"field_name" doc:"field of the chunk the answer goes to: summary, keywords, questions, metadata, toc, ..."`
}

// Tokenizer prepares chunks for search.
type Tokenizer struct {
	Step
	SearchMethod   engine.Value `json:"search_method" doc:"full_text, embedding or both"`
	FilenameWeight float64      `json:"filename_embd_weight" doc:"weight of the file name in the vector" default:"0.1" label:"File name weight"`
	Fields         engine.Value `json:"fields" doc:"fields of a chunk that are indexed"`
}

// Compiler writes chunks with a language model along templates.
type Compiler struct {
	Step
	Sampling
	Template engine.Value `json:"compilation_template_group_id" doc:"group of templates" label:"Template group"`
	Plan     engine.Value `json:"plan" doc:"what is compiled"`
}

// pipelineSpecs lists the nodes of pipelines.
func pipelineSpecs() []engine.Spec {
	step := func(doc string, fresh func() engine.Component, name string, formerly ...string) engine.Spec {
		return engine.Spec{
			Category: engine.CategoryPipeline, Icon: "box", Name: name, Aliases: formerly, Renamed: true,
			Doc: doc, New: fresh, Pipeline: true,
		}
	}
	start := step("The document a pipeline works on.", func() engine.Component { return &File{} }, "File")
	start.Icon, start.Role = "open", engine.RoleStart
	return []engine.Spec{
		start,
		step("Turns a document into text.", func() engine.Component { return &Parser{} }, "Parser"),
		step("Cuts text into chunks of about equal length.", func() engine.Component { return &TokenChunker{} }, "TokenChunker", "Splitter"),
		step("Cuts text along its headings.", func() engine.Component { return &TitleChunker{} }, "TitleChunker", "HierarchicalMerger"),
		step("Asks a language model about each chunk.", func() engine.Component { return &Extractor{} }, "Extractor"),
		step("Prepares chunks for search.", func() engine.Component { return &Tokenizer{} }, "Tokenizer"),
		step("Writes chunks along templates.", func() engine.Component { return &Compiler{} }, "Compiler"),
	}
}
