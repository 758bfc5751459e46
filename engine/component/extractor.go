package component

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// Extractor prompts a language model with each chunk and stores the answer in a field of the chunk.
type Extractor struct {
	engine.Common
	Sampling
	SysPrompt  engine.Text   `json:"sys_prompt" label:"Instructions" doc:"what the model is and how it answers" section:"prompt"`
	Prompts    engine.Value  `json:"prompts" label:"Message" doc:"asked for each chunk; a reference to chunks stands for its text" shape:"list of {role, content}, or one text" section:"prompt" widget:"messages"`
	FieldName  string        `json:"field_name" label:"Write into" doc:"field of the chunk for the answer" shape:"summary, keywords, questions, metadata, toc, ..." widget:"select" offer:"summary=Summary|keywords=Keywords|questions=Questions|metadata=Metadata|toc=Table of contents"`
	prompts    []chunkPrompt // the first is the system prompt
	references []engine.Ref
	idle       bool // none of the automatic extractions is on
}

// chunkPrompt is a prompt with placeholders for the text of a chunk.
type chunkPrompt struct {
	role  string
	parts []engine.Text // the text of the chunk goes between each two
}

var extractorSpec = engine.Spec{
	Name:  "Extractor",
	Title: "Ask about each chunk", Search: []string{"summary", "keywords", "metadata", "摘要"},
	Doc:      "Asks a language model about each chunk.",
	FromForm: extractorFromForm,
	New:      func() engine.Component { return &Extractor{} },
	Outputs:  chunksOutput, Ignores: append(slices.Clone(modelIgnores), automatic...),
}

// automatic are extractions that pipelines of RAGFlow's Go server switch on instead of naming a
// field.
var automatic = []string{"keywords", "questions", "summary", "metadata", "tags"}

// readAutomatic accepts a node without a field if it has automatic extractions and none is on.
func (e *Extractor) readAutomatic(s *engine.Setup) error {
	for _, name := range automatic {
		v, known := s.Params.Lookup(name)
		n, _ := v.Get("top_n").Int()
		if n > 0 || v.Get("enabled").Truthy() {
			return s.Fail(name, v, "is an automatic extraction, which is not supported; "+
				"expected a prompt and field_name")
		}
		e.idle = e.idle || known && v.Kind() == engine.KindObject
	}
	if !e.idle {
		return s.Fail("field_name", engine.Null, "is missing; expected a value")
	}
	return nil
}

// Warnings reports a node that extracts nothing.
func (e *Extractor) Warnings() []engine.Diagnostic {
	if !e.idle {
		return nil
	}
	return []engine.Diagnostic{{
		Param: "field_name", Message: "is empty and no automatic extraction is on: chunks pass unchanged",
	}}
}

// chunksOf is the suffix of a reference to the chunks of a node.
const chunksOf = "@chunks"

// Init compiles the prompts.
func (e *Extractor) Init(s *engine.Setup) error {
	if e.FieldName == "" {
		if err := e.readAutomatic(s); err != nil {
			return err
		}
	}
	if !e.Prompts.Truthy() {
		e.Prompts = engine.String("")
	}
	list, err := readPrompts(s, e.Prompts)
	if err != nil {
		return err
	}
	hasChunk := false
	for _, p := range append([]prompt{{"system", e.SysPrompt}}, list...) {
		parts := divided(&p.content)
		hasChunk = hasChunk || len(parts) > 1
		e.prompts = append(e.prompts, chunkPrompt{p.role, parts})
		for _, part := range parts {
			e.references = append(e.references, part.Refs()...)
		}
	}
	if !hasChunk { // the text follows the instructions
		e.prompts = append(e.prompts, chunkPrompt{"user", []engine.Text{engine.ParseText(""), engine.ParseText("")}})
	}
	return nil
}

// divided splits a text at its references to chunks. Regardless of the node, they refer to the
// chunks of the previous node.
func divided(t *engine.Text) []engine.Text {
	parts := []string{""}
	refs := t.Refs()
	t.Parts(func(lit string, ref int) bool {
		last := len(parts) - 1
		switch {
		case ref < 0:
			parts[last] += lit
		case strings.HasSuffix(refs[ref].Expr, chunksOf):
			parts = append(parts, "")
		default:
			parts[last] += refs[ref].String()
		}
		return true
	})
	out := make([]engine.Text, len(parts))
	for i, p := range parts {
		out[i] = engine.ParseText(p)
	}
	return out
}

// References returns those of the prompts except the chunks.
func (e *Extractor) References() []engine.Ref { return e.references }

// Run prompts the model with each chunk, concurrently.
func (e *Extractor) Run(ctx context.Context, call *engine.Call) error {
	p, err := previousPayload(call)
	if err != nil {
		return err
	}
	chunks := p.chunks()
	if e.idle {
		outChunks(call, p.name, chunks)
		return nil
	}
	prompts, err := e.rendered(ctx, call)
	if err != nil {
		return err
	}
	if e.FieldName == fieldTOC {
		entry, err := e.contents(ctx, call, prompts[0].with(""), chunks)
		if err == nil && !entry.IsNull() {
			chunks = append(chunks, entry)
		}
		outChunks(call, p.name, chunks)
		return err
	}
	if err := e.each(ctx, call, chunks, func(i int, key string) error {
		answer, err := e.ask(ctx, call, key, prompts, chunks[i].Get("text").Text())
		if err == nil {
			chunks[i] = e.store(call, chunks[i], answer)
		}
		return err
	}); err != nil {
		return err
	}
	outChunks(call, p.name, chunks)
	return nil
}

// promptText is a rendered prompt; the text of a chunk goes between its parts.
type promptText struct {
	role  string
	parts []string
}

// with returns the prompt with the text of a chunk.
func (p *promptText) with(text string) string { return strings.TrimSpace(strings.Join(p.parts, text)) }

func (e *Extractor) rendered(ctx context.Context, call *engine.Call) ([]promptText, error) {
	var out []promptText
	for i := range e.prompts {
		p := promptText{role: e.prompts[i].role}
		for k := range e.prompts[i].parts {
			text, err := call.Render(ctx, &e.prompts[i].parts[k], engine.TextStyle{})
			if err != nil {
				return nil, err
			}
			p.parts = append(p.parts, text)
		}
		out = append(out, p)
	}
	return out, nil
}

// each calls work for every chunk, with the concurrency of the run, and stops at the first error.
// Keys of model calls are assigned in order, so that a continued run repeats none.
func (e *Extractor) each(
	ctx context.Context, call *engine.Call, chunks []engine.Value, work func(i int, key string) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	keys := make([]string, len(chunks))
	for i := range keys {
		keys[i] = call.Key()
	}
	next, done := make(chan int), 0
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range min(call.Concurrency(), len(chunks)) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range next {
				if err := work(i, keys[i]); err != nil {
					cancel(fmt.Errorf("chunk %d: %w", i, err))
					continue
				}
				mu.Lock()
				done++
				progress(call, float64(done)/float64(len(chunks)), fmt.Sprintf("%s of %d of %d chunks", e.FieldName,
					done, len(chunks)))
				mu.Unlock()
			}
		}()
	}
	for i := range chunks {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	wait.Wait()
	return context.Cause(ctx)
}

// ask returns the answer of the model about one text.
func (e *Extractor) ask(
	ctx context.Context, call *engine.Call, key string, prompts []promptText, text string,
) (answer string, err error) {
	req := &engine.ModelRequest{
		LLM: e.LLMID, Purpose: engine.PurposeAnswer, System: prompts[0].with(text), Config: e.config(), Key: key,
		Query: text,
	}
	for _, p := range prompts[1:] {
		if content := p.with(text); content != "" {
			req.Messages = append(req.Messages, engine.ModelMessage{Role: p.role, Content: content})
		}
	}
	err = retry(ctx, call, &e.Common, func() error {
		a, err := call.Generate(ctx, req, nil)
		answer = strings.TrimSpace(afterReasoning(a.Text))
		return err
	})
	if stand, ok := standIn(&e.Common); err != nil && ok && !isStopped(err) {
		return stand, nil
	}
	return answer, err
}

// Fields with answers that are not plain text.
const (
	fieldTOC      = "toc"
	fieldMetadata = "metadata"
)

// store sets the field of a chunk. Metadata must be an object; other answers are ignored.
func (e *Extractor) store(call *engine.Call, c engine.Value, answer string) engine.Value {
	if e.FieldName != fieldMetadata {
		return c.With(e.FieldName, engine.String(answer))
	}
	v, err := readStructured(answer)
	if err == nil && v.Kind() != engine.KindObject {
		err = fmt.Errorf("the answer is a %s; expected an object", v.Kind())
	}
	if err != nil {
		warn(call, "metadata of a chunk is ignored", err)
		return c
	}
	return c.With(e.FieldName, v)
}

// contentsPrompt requests a table of contents.
const contentsPrompt = "You get the beginnings of the passages of a document, each with its number. " +
	`Answer with a JSON list of the headings in order, [{"level": "1", "title": "...", "chunk_id": NUMBER}], ` +
	"where chunk_id is the number of the passage that the heading is in. Answer with [] if there are none."

// contents generates a table of contents, which becomes a chunk that searches do not return.
func (e *Extractor) contents(
	ctx context.Context, call *engine.Call, system string, chunks []engine.Value,
) (engine.Value, error) {
	const shown = 200 // characters of a passage
	var b strings.Builder
	for i, c := range chunks {
		text := []rune(c.Get("text").Text())
		fmt.Fprintf(&b, "%d: %s\n", i, strings.Join(strings.Fields(string(text[:min(len(text), shown)])), " "))
	}
	prompts := []promptText{{"system", []string{paragraphs(system, contentsPrompt)}}, {"user", []string{"", ""}}}
	answer, err := e.ask(ctx, call, call.Key(), prompts, b.String())
	if err != nil {
		return engine.Null, err
	}
	list, err := readStructured(answer)
	if err == nil && list.Kind() != engine.KindList {
		err = fmt.Errorf("the answer is a %s; expected a list", list.Kind())
	}
	if err != nil {
		warn(call, "the table of contents is ignored", err)
		return engine.Null, nil
	}
	const behindAll = 100_000_000 // the page of this chunk
	return engine.Object(
		"text", list.JSON(), "toc_kwd", fieldTOC, "available_int", 0, "page_num_int",
		engine.List(engine.Int(behindAll)),
	), nil
}
