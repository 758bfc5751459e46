package component

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

// LLM calls a language model. Before a Message the answer streams; with a schema in the output
// "structured" it is parsed as JSON; else it is one text without reasoning.
//
// Differs: all prompts are sent, and the first one replaces an unanswered entry of the user; an
// answer that is not JSON is an error. Source: RAGFlow agent/component/llm.py at 80a16e71
// (behaviour only).
type LLM struct {
	engine.Common
	Sampling
	Rejection
	SysPrompt  engine.Text  `json:"sys_prompt" label:"Instructions" doc:"what the model is and how it answers" section:"prompt"`
	Prompts    engine.Value `json:"prompts" label:"Message" doc:"the question for the model; the question of the person if empty" shape:"list of {role, content}, or one text" section:"prompt" widget:"messages"`
	Prompt     engine.Text  `json:"prompt" label:"Task of an older file" doc:"follows the instructions" section:"prompt" show:"prompt"`
	Cite       bool         `json:"cite" label:"Cite sources" doc:"mark which passages the answer comes from" section:"output" default:"true"`
	VisualVar  engine.Ref   `json:"visual_files_var" label:"Images" doc:"images that the model sees" section:"prompt"`
	prompts    []prompt
	schema     engine.Value
	references []engine.Ref
	window     int // turns of the conversation to send
}

// prompt is one compiled entry of prompts.
type prompt struct {
	role    string
	content engine.Text
}

var llmSpec = engine.Spec{
	Ignores:  modelIgnores,
	Name:     "LLM",
	Declares: engine.DeclaresSchema,
	Title:    "LLM",
	Search:   []string{"model", "prompt", "gpt", "generate", "summarize", "extract", "生成", "总结"}, First: "prompts",
	Category: engine.CategoryModel, Icon: "spark",
	Aliases: []string{"Generate"},
	Doc:     "Calls a language model and returns its answer, as text or as JSON with a declared schema.",
	New:     func() engine.Component { return &LLM{} },
	Outputs: []engine.Field{
		{Name: "content", Type: "string", Doc: "the answer"},
		{Name: "structured", Type: "json", Doc: "the answer as JSON, if its schema is declared"},
	},
	Waits:    true,
	Tells:    true,
	Thoughts: "Thinking about the question.",
}

// Init compiles the prompts.
func (l *LLM) Init(s *engine.Setup) (err error) {
	if l.window, err = historyWindow(s, &l.Common, 13); err != nil {
		return err
	}
	if err := l.compile(s); err != nil {
		return err
	}
	l.schema = outputSchema(s.Outputs)
	if l.prompts, err = readPrompts(s, l.Prompts); err != nil {
		return err
	}
	for i := range l.prompts {
		l.references = append(l.references, l.prompts[i].content.Refs()...)
	}
	return nil
}

// readPrompts compiles prompts in all forms of documents: a list of {role, content} or of texts,
// one of either, or nothing, which means the user's message.
func readPrompts(s *engine.Setup, list engine.Value) ([]prompt, error) {
	switch list.Kind() {
	case engine.KindList, engine.KindNull:
	case engine.KindObject:
		list = engine.List(list)
	case engine.KindString:
		if list.Str() != "" {
			list = engine.List(list)
		}
	default:
		return nil, s.Fail("prompts", list, "is a "+list.Kind().String()+"; expected a list of {role, content}")
	}
	if !list.Truthy() {
		list = engine.Strings("{sys.query}")
	}
	var prompts []prompt
	for i, p := range list.Elements() {
		at := "prompts[" + strconv.Itoa(i) + "]"
		if p.Kind() == engine.KindString {
			p = engine.Object("role", "user", "content", p)
		}
		content := p.Get("content")
		if p.Kind() != engine.KindObject || content.Kind() != engine.KindString && !content.IsNull() {
			return nil, s.Fail(at, p, "is not a prompt; expected {role, content} with a string as content")
		}
		role := p.Get("role").Str()
		if role == "" {
			role = "user"
		}
		prompts = append(prompts, prompt{role: role, content: s.Text(content.Str())})
	}
	return prompts, nil
}

// References returns those of the prompts.
func (l *LLM) References() []engine.Ref { return l.references }

// Run calls the model, or announces a stream.
func (l *LLM) Run(ctx context.Context, call *engine.Call) error {
	c, err := l.prepare(ctx, call, "")
	if err != nil {
		return err
	}
	return l.ask(ctx, call, c)
}

func (l *LLM) ask(ctx context.Context, call *engine.Call, c conversation) error {
	c.system = l.withCitation(call, &c)
	if !l.schema.IsNull() {
		return l.askStructured(ctx, call, c)
	}
	c.fit(call.ModelInfo(ctx, l.LLMID).Context)
	if call.CanStream() && !l.rejects() {
		return call.Defer("content", c.value())
	}
	var text string
	try := func() error {
		answer, err := call.Generate(ctx, l.request(call, &c, engine.PurposeAnswer), nil)
		text = afterReasoning(answer.Text)
		return err
	}
	err := retry(ctx, call, &l.Common, try)
	for n, again := 0, true; err == nil; n++ {
		if again, err = l.again(call, text, n); !again {
			break
		}
		err = retry(ctx, call, &l.Common, try)
	}
	if err != nil {
		stand, ok := standIn(&l.Common)
		if !ok || isStopped(err) {
			return err
		}
		text = stand
	}
	call.Out("content", engine.String(text))
	return nil
}

// askStructured calls the model until the answer is JSON of the schema. JSON that does not match
// goes back to the model once, with the problem.
func (l *LLM) askStructured(ctx context.Context, call *engine.Call, c conversation) error {
	c.system = paragraphs(c.system, jsonAnswer(l.schema))
	c.fit(call.ModelInfo(ctx, l.LLMID).Context)
	var v engine.Value
	err := retry(ctx, call, &l.Common, func() error {
		answer, err := call.Generate(ctx, l.request(call, &c, engine.PurposeStructured), nil)
		if err != nil {
			return err
		}
		if v, err = readBySchema(answer.Text, l.schema); err == nil || errors.Is(err, errNoStructure) {
			return err
		}
		again := c
		again.messages = append(slices.Clone(c.messages),
			engine.ModelMessage{Role: "assistant", Content: afterReasoning(answer.Text)},
			engine.ModelMessage{Role: "user", Content: jsonProblem(err)})
		answer, failed := call.Generate(ctx, l.request(call, &again, engine.PurposeStructured), nil)
		if endsNode(failed) || ctx.Err() != nil {
			return failed
		}
		if failed == nil {
			v, err = readBySchema(answer.Text, l.schema)
		}
		return err
	})
	if err != nil {
		return err
	}
	outStructured(call, v)
	return nil
}

// outStructured sets the JSON answer; a tool call gets it as text.
func outStructured(call *engine.Call, v engine.Value) {
	call.Out("structured", v)
	if call.IsTool() {
		call.Out("content", engine.String(v.Text()))
	}
}

// Stream calls the model and passes on its answer.
func (l *LLM) Stream(ctx context.Context, call *engine.Call, request engine.Value, emit func(string) error) error {
	c := readConversation(request)
	req := l.request(call, &c, engine.PurposeAnswer)
	req.EmitOnly = true
	_, err := l.generate(ctx, call, req, emit)
	return err
}

// generate streams an answer; the canvas's default replaces a failed one.
func (l *LLM) generate(ctx context.Context, call *engine.Call, req *engine.ModelRequest,
	emit func(string) error,
) (string, error) {
	req.Stream = true
	answer, err := call.Generate(ctx, req, emit)
	if err == nil || isStopped(err) || ctx.Err() != nil {
		return answer.Text, err
	}
	stand, ok := standIn(&l.Common)
	if !ok {
		return answer.Text, err
	}
	if emit == nil {
		return stand, nil
	}
	call.Out("content", engine.String(stand)) // the text before it is not part of the answer
	return answer.Text + stand, emit(stand)
}

// request returns a call with the node's settings.
func (l *LLM) request(call *engine.Call, c *conversation, purpose engine.Purpose) *engine.ModelRequest {
	req := &engine.ModelRequest{
		LLM: l.LLMID, Purpose: purpose, System: c.system, Messages: c.messages, Config: l.config(),
		Chunks: call.Chunks(), Query: question(call, c),
	}
	if purpose == engine.PurposeStructured {
		req.Schema = l.schema
	}
	return req
}

// question returns the user's message, shortened.
func question(call *engine.Call, c *conversation) string {
	if q := call.Global("sys.query").Text(); q != "" && !call.IsTool() {
		return q
	}
	return c.last()
}

// prepare renders the conversation. asked replaces the prompts, unless it is empty.
func (l *LLM) prepare(ctx context.Context, call *engine.Call, asked string) (c conversation, err error) {
	images, err := pictures(ctx, call, &l.VisualVar)
	if err != nil {
		return c, err
	}
	style := engine.TextStyle{Null: "null", Record: true}
	system, err := call.Render(ctx, &l.SysPrompt, style)
	if err != nil {
		return c, err
	}
	task, err := call.Render(ctx, &l.Prompt, style)
	if err != nil {
		return c, err
	}
	c.system, c.overrides = cutOverrides(paragraphs(system, task))
	c.system = paragraphs(c.system, engine.InstructionsOf(call))
	var prompts []engine.ModelMessage
	if asked != "" {
		prompts = append(prompts, engine.ModelMessage{Role: "user", Content: asked})
	} else {
		for i := range l.prompts {
			text, err := call.Render(ctx, &l.prompts[i].content, style)
			if err != nil {
				return c, err
			}
			prompts = append(prompts, engine.ModelMessage{Role: l.prompts[i].role, Content: text})
		}
	}
	before, err := past(call, l.window)
	if err != nil {
		return c, err
	}
	c.messages = join(before, prompts)
	c.show(images)
	err = l.attachUploads(call, &c, func() bool { return call.ModelInfo(ctx, l.LLMID).Images })
	return c, err
}

// withCitation returns the system prompt with the rules for citations, if there are sources.
func (l *LLM) withCitation(call *engine.Call, c *conversation) string {
	if !l.Cite || call.Chunks().Len() == 0 {
		return c.system
	}
	return paragraphs(c.system, citationsFor(c))
}

// citationsFor returns the rules for citations: the canvas's own, or the default.
func citationsFor(c *conversation) string {
	if own := c.overrides.Get("citation_guidelines").Str(); own != "" {
		return own
	}
	return citationRules
}

// paragraphs joins non-empty texts with an empty line between.
func paragraphs(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + "\n\n" + b
}

var (
	_ engine.Component   = (*LLM)(nil)
	_ engine.Initializer = (*LLM)(nil)
	_ engine.Streamer    = (*LLM)(nil)
	_ engine.Referrer    = (*LLM)(nil)
)
