package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// DocGenerator writes a document: PDF, Word, text, Markdown or HTML.
type DocGenerator struct {
	External
	Content      engine.Expr `json:"content" doc:"text of the document, as Markdown" check:"nonempty"`
	Title        engine.Expr `json:"title" doc:"title on the first page"`
	Subtitle     engine.Expr `json:"subtitle" doc:"line below the title"`
	OutputFormat string      `json:"output_format" doc:"form of the document" default:"pdf" enum:"pdf,docx,txt,markdown,html,md"`
	HeaderText   engine.Expr `json:"header_text" doc:"line at the top of each page"`
	FooterText   engine.Expr `json:"footer_text" doc:"line at the bottom of each page"`
	FontFamily   string      `json:"font_family" doc:"font" default:"Helvetica"`
	FontSize     int         `json:"font_size" doc:"size of the text in points" default:"12" min:"1"`
	PageSize     string      `json:"page_size" doc:"A4 or Letter" default:"A4"`
	Orientation  string      `json:"orientation" doc:"portrait or landscape" default:"portrait"`
	Filename     engine.Expr `json:"filename" doc:"name of the file, without ending"`
	PageNumbers  bool        `json:"add_page_numbers" doc:"number the pages" default:"true"`
	Timestamp    bool        `json:"add_timestamp" doc:"say when it was made" default:"true"`
	Watermark    engine.Expr `json:"watermark_text" doc:"text across each page"`
	TOC          bool        `json:"enable_toc" doc:"a table of contents"`
}

// Run writes the document.
func (d *DocGenerator) Run(ctx context.Context, call *engine.Call) error {
	return d.act(ctx, call, arg{"content", &d.Content}, arg{"title", &d.Title}, arg{"subtitle", &d.Subtitle},
		arg{"header_text", &d.HeaderText}, arg{"footer_text", &d.FooterText}, arg{"filename", &d.Filename}, arg{"watermark_text", &d.Watermark})
}

var docGeneratorSpec = engine.Spec{
	Name: "DocGenerator", Aliases: []string{"PDFGenerator"}, Doc: "Writes a document file from text.", Retries: true, Waits: true,
	New: func() engine.Component { return &DocGenerator{} },
	Outputs: []engine.Field{
		{Name: "success", Type: "boolean", Doc: "whether it worked"},
		{Name: "download", Type: "string", Doc: "JSON text that describes the file"},
	},
	Thoughts: "Writing the document.",
}
