package component

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/block"
)

// Parser converts a document to text, blocks, Markdown or HTML by the first of its setups that
// lists the extension of the file.
type Parser struct {
	engine.Common
	Setups engine.Value `json:"setups" label:"Kinds of files" doc:"how files of each kind are read" shape:"kind -> {parse_method, lang, suffix, output_format, llm_id, ...}" widget:"parsers"`
	setups []setup
}

// setup configures the parsing of a kind of file.
type setup struct {
	kind     string
	suffixes []string
	format   string
	fields   []string // of an e-mail to keep; nil for all
	how      engine.ParseOptions
	prompt   string // for the model that reads images
}

var parserSpec = engine.Spec{
	Name:  "Parser",
	Title: "Read document", Search: []string{"parse", "ocr", "pdf", "解析"},
	Doc:      "Converts a document to text, blocks, Markdown or HTML.",
	FromForm: parserFromForm,
	New:      func() engine.Component { return &Parser{} },
	Outputs: []engine.Field{
		{Name: "name", Type: "string", Doc: "name of the file"},
		{Name: "output_format", Type: "string", Doc: "json, markdown, text or html: the name of the output"},
		{Name: "json", Type: "list", Doc: "blocks: {text, doc_type_kwd, layout_type, img_id, positions}"},
		{Name: "markdown", Type: "string", Doc: "the document as Markdown"},
		{Name: "text", Type: "string", Doc: "the document as plain text"},
		{Name: "html", Type: "string", Doc: "the document as HTML"},
	},
}

// kindOfFile is a kind of file with its default settings.
type kindOfFile struct{ kind, format, suffixes string }

// kindsOfFiles are all kinds by their names in documents of any version.
var kindsOfFiles = []kindOfFile{
	{"pdf", formatJSON, "pdf"},
	{"spreadsheet", formatHTML, "xls xlsx csv tsv"},
	{"word", formatJSON, "doc docx"},
	{"doc", formatJSON, "doc"},
	{"docx", formatJSON, "docx"},
	{"text&markdown", formatText, "md markdown mdx txt"},
	{"markdown", formatJSON, "md markdown mdx"},
	{"text", formatJSON, "txt"},
	{"text&code", formatJSON, "txt py js java c cpp h php go ts sh cs kt sql json jsonl"},
	{"html", formatJSON, "htm html"},
	{"slides", formatJSON, "pptx ppt"},
	{"image", formatText, "jpg jpeg png gif webp"},
	{"email", formatText, "eml msg"},
	{"epub", formatJSON, "epub"},
	{"audio", formatText, "mp3 wav flac ogg aac"},
	{"video", formatText, "mp4 avi mkv mov"},
}

// suffixesOf returns the extensions of a kind of file.
func suffixesOf(kind string) []string {
	at := slices.IndexFunc(kindsOfFiles, func(k kindOfFile) bool { return k.kind == kind })
	if at < 0 {
		return nil
	}
	return strings.Fields(kindsOfFiles[at].suffixes)
}

// Init reads the setups: those of the param, or params named after a kind of file; without any,
// each kind has its default.
func (p *Parser) Init(s *engine.Setup) error {
	for kind, v := range p.Setups.Fields() {
		if err := p.add(s, "setups."+kind, kind, v); err != nil {
			return err
		}
	}
	if len(p.setups) == 0 {
		for _, k := range kindsOfFiles {
			if v := s.Params.Get(k.kind); v.Kind() == engine.KindObject {
				if err := p.add(s, k.kind, k.kind, v); err != nil {
					return err
				}
			}
		}
	}
	if len(p.setups) == 0 {
		for _, k := range kindsOfFiles {
			p.setups = append(p.setups, setup{kind: k.kind, suffixes: strings.Fields(k.suffixes), format: k.format})
		}
	}
	return nil
}

// parserFormats are the output formats of a Parser.
var parserFormats = []string{formatJSON, formatMarkdown, formatText, formatHTML}

func (p *Parser) add(s *engine.Setup, param, kind string, v engine.Value) (err error) {
	if v.Kind() != engine.KindObject {
		return s.Fail(param, v, "is a "+v.Kind().String()+"; expected {suffix, output_format, ...}")
	}
	out := setup{kind: kind, format: v.Get("output_format").Str(), prompt: v.Get("system_prompt").Str()}
	out.how = engine.ParseOptions{
		Method: v.Get("parse_method").Str(), LLM: v.Get("llm_id").Str(), Language: v.Get("lang").Str(),
	}
	if out.how.LLM == "" {
		out.how.LLM = v.Get("vlm").Get("llm_id").Str()
	}
	at := slices.IndexFunc(kindsOfFiles, func(k kindOfFile) bool { return k.kind == kind })
	if out.format == "" && at >= 0 {
		out.format = kindsOfFiles[at].format
	}
	if !slices.Contains(parserFormats, out.format) {
		return s.Fail(param+".output_format", v.Get("output_format"), "is not one of "+strings.Join(parserFormats,
			", "))
	}
	if out.suffixes, err = textList(s, param+".suffix", v.Get("suffix")); err != nil {
		return err
	}
	if len(out.suffixes) == 0 {
		out.suffixes = suffixesOf(kind)
	}
	if out.fields, err = textList(s, param+".fields", v.Get("fields")); err != nil {
		return err
	}
	p.setups = append(p.setups, out)
	return nil
}

// setupFor returns the first setup that lists the extension of a file.
func (p *Parser) setupFor(name string) (*setup, error) {
	extension := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	for i := range p.setups {
		for _, suffix := range p.setups[i].suffixes {
			if strings.ToLower(strings.TrimPrefix(suffix, ".")) == extension {
				return &p.setups[i], nil
			}
		}
	}
	var known []string
	for _, s := range p.setups {
		known = append(known, s.suffixes...)
	}
	return nil, fmt.Errorf("no setup for the extension of %q (one of %s)", name, strings.Join(known, ", "))
}

// Run parses the file.
func (p *Parser) Run(ctx context.Context, call *engine.Call) error {
	_, outs := call.Previous()
	file, name := outs.Get("file"), outs.Get("name").Str()
	if !file.Truthy() {
		return errNoPayload
	}
	s, err := p.setupFor(name)
	if err != nil {
		return err
	}
	progress(call, 0, "parsing "+name)
	blocks, err := s.blocks(ctx, call, name, file)
	if err != nil {
		return fmt.Errorf("parse %q: %w", name, err)
	}
	call.Out("name", engine.String(name))
	call.Out("output_format", engine.String(s.format))
	call.Out(s.format, s.payload(blocks))
	progress(call, 1, fmt.Sprintf("%d blocks", len(blocks)))
	return nil
}

// blocks reads the file.
func (s *setup) blocks(ctx context.Context, call *engine.Call, name string, file engine.Value) ([]block.Block, error) {
	ports := call.Ports()
	switch {
	case s.kind == "audio" || s.kind == "video":
		return nil, fmt.Errorf("%s: %w: there is no port for transcription", s.kind, engine.ErrNoPort)
	case s.kind == "image" && s.how.LLM != "":
		return s.describe(ctx, call, file)
	case ports.Parser != nil:
		list, err := ports.Parser.Parse(ctx, file, s.how)
		return withFields(list, s.fields), err
	case ports.Files == nil:
		return nil, engine.ErrNoPort
	}
	text, err := ports.Files.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(text, "data:") {
		return nil, fmt.Errorf("the document is an image: %w: choose a model that reads images (llm_id)",
			engine.ErrNoPort)
	}
	if _, body, ok := strings.Cut(text, "\nContent as following: \n"); ok { // the heading of an upload
		text = body
	}
	if strings.EqualFold(path.Ext(name), ".txt") {
		return block.Paragraphs(text), nil
	}
	return block.Parse(text), nil
}

// describeImage requests the content of an image.
const describeImage = "Write down the text in the image, in its order and as Markdown; keep tables. " +
	"If there is none, describe what the image shows. Give nothing else."

// describe lets a model read an image.
func (s *setup) describe(ctx context.Context, call *engine.Call, file engine.Value) ([]block.Block, error) {
	files := call.Ports().Files
	if files == nil {
		return nil, engine.ErrNoPort
	}
	url, err := files.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	prompt := s.prompt
	if prompt == "" {
		prompt = describeImage
	}
	answer, err := call.Generate(ctx, &engine.ModelRequest{
		LLM: s.how.LLM, Purpose: engine.PurposeAnswer, System: prompt, Query: prompt,
		Messages: []engine.ModelMessage{{Role: "user", Content: file.Get("name").Text(), Images: []string{url}}},
	}, nil)
	if err != nil {
		return nil, err
	}
	return block.Parse(afterReasoning(answer.Text)), nil
}

// withFields keeps the chosen fields of an e-mail: those of its headers, subject, body and
// attachments.
func withFields(list []block.Block, fields []string) []block.Block {
	if fields == nil {
		return list
	}
	var out []block.Block
	for i, b := range list {
		field := "body"
		switch {
		case b.Kind == block.Heading && i == 0:
			field = "subject"
		case strings.HasPrefix(b.Text, "Attachment: "):
			field = "attachments"
		case b.Kind == block.Paragraph && i < 2 && isHeader(b.Text):
			var lines []string
			for line := range strings.SplitSeq(b.Text, "\n") {
				if label, _, _ := strings.Cut(line, ":"); slices.Contains(fields, strings.ToLower(label)) {
					lines = append(lines, line)
				}
			}
			if b.Text = strings.Join(lines, "\n"); b.Text != "" {
				out = append(out, b)
			}
			continue
		}
		if slices.Contains(fields, field) {
			out = append(out, b)
		}
	}
	return out
}

// isHeader reports whether all lines are headers of an e-mail.
func isHeader(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		label, _, ok := strings.Cut(line, ": ")
		if !ok || !slices.Contains([]string{"From", "To", "Cc", "Bcc", "Date"}, label) {
			return false
		}
	}
	return true
}

// payload encodes blocks in the format of the setup.
func (s *setup) payload(list []block.Block) engine.Value {
	switch s.format {
	case formatMarkdown:
		return engine.String(block.Markdown(list))
	case formatText:
		if s.kind == "markdown" || s.kind == "text&markdown" { // it marks headings
			return engine.String(block.Markdown(list))
		}
		return engine.String(block.Plain(list))
	case formatHTML:
		var b strings.Builder
		for i := range list {
			for _, t := range rowGroups(&list[i]) {
				b.WriteString(t.HTML() + "\n")
			}
		}
		return engine.String(b.String())
	}
	var items []engine.Value
	for i := range list {
		items = append(items, s.items(&list[i])...)
	}
	return engine.List(items...)
}

// rowsOfGroup is the number of rows of a part of a long table; chunks cannot end inside of one.
const rowsOfGroup = 12

// rowGroups splits a long table into tables with the same header.
func rowGroups(b *block.Block) (out []block.Block) {
	if b.Kind != block.Table || len(b.Rows) <= rowsOfGroup+b.Header {
		return []block.Block{*b}
	}
	for rows := range slices.Chunk(b.Rows[b.Header:], rowsOfGroup) {
		part := *b
		part.Rows = append(b.Rows[:b.Header:b.Header], rows...)
		out = append(out, part)
	}
	return out
}

// items returns a block as elements of a list: a table is one element, a spreadsheet one per row.
func (s *setup) items(b *block.Block) (out []engine.Value) {
	text, kind, layout := b.Plain(), "text", string(b.Kind)
	switch b.Kind {
	case block.Heading:
		layout = "title"
		if s.kind == "markdown" || s.kind == "text&markdown" {
			text = b.Markdown()
		}
	case block.Table:
		if s.kind == "spreadsheet" {
			return rowItems(b)
		}
		for _, t := range rowGroups(b) {
			out = append(out, itemOf(b, t.HTML(), "table", layout))
		}
		return out
	case block.Image:
		kind = "image"
	}
	return []engine.Value{itemOf(b, text, kind, layout)}
}

func itemOf(b *block.Block, text, kind, layout string) engine.Value {
	out := engine.NewObject(6)
	out.Set("text", engine.String(text)).Set("doc_type_kwd", engine.String(kind)).
		Set("layout_type", engine.String(layout))
	if b.Kind == block.Image && b.Source != "" {
		out.Set("img_id", engine.String(b.Source))
	}
	if len(b.Positions) > 0 {
		positions := make([]engine.Value, len(b.Positions))
		for i, p := range b.Positions {
			positions[i] = positionValue(p)
		}
		out.Set("positions", engine.List(positions...))
	}
	return out.Value()
}

// rowItems returns the rows of a sheet as "column: value; ..." texts.
func rowItems(b *block.Block) (out []engine.Value) {
	for i, row := range b.Rows {
		if i < b.Header {
			continue
		}
		var cells []string
		for k, cell := range row {
			if cell = block.Line(cell); cell == "" {
				continue
			}
			if b.Header > 0 && k < len(b.Rows[0]) && b.Rows[0][k] != "" {
				cell = block.Line(b.Rows[0][k]) + ": " + cell
			}
			cells = append(cells, cell)
		}
		out = append(out, itemOf(b, strings.Join(cells, "; "), "text", "table"))
	}
	return out
}
