package component

import (
	"context"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// DocGenerator writes a document as PDF, Word, text, Markdown or HTML.
//
// Differs: files are stored where the host stores those of runs, so output_directory has no effect,
// and file_path is the name of the file there; a logo keeps its proportions.
type DocGenerator struct {
	External
	Content      engine.Expr `json:"content" label:"Text" doc:"the document, as Markdown" check:"nonempty"`
	OutputFormat string      `json:"output_format" label:"As" doc:"format of the document" options:"pdf=PDF|docx=Word|txt=Text|markdown=Markdown|html=HTML" accept:"markdown=md" default:"pdf"`
	Title        engine.Expr `json:"title" label:"Title" doc:"title on the first page"`
	Subtitle     engine.Expr `json:"subtitle" label:"Subtitle" doc:"line below the title"`
	Filename     engine.Expr `json:"filename" label:"File name" doc:"without extension"`
	HeaderText   engine.Expr `json:"header_text" label:"Header" doc:"line at the top of each page" section:"advanced" show:"output_format=pdf,docx"`
	FooterText   engine.Expr `json:"footer_text" label:"Footer" doc:"line at the bottom of each page" section:"advanced" show:"output_format=pdf,docx"`
	FontFamily   string      `json:"font_family" label:"Font" doc:"not used: the font is one that has the letters of the text" hidden:"true" default:"Helvetica"`
	FontSize     int         `json:"font_size" label:"Text size" doc:"size of the text in points" section:"advanced" show:"output_format=pdf,docx" unit:"pt" default:"12" min:"1"`
	TitleSize    float64     `json:"title_font_size" label:"Title size" doc:"size of the title in points" section:"advanced" show:"output_format=pdf,docx" unit:"pt" zero:"automatic"`
	Heading1     float64     `json:"heading1_font_size" label:"Heading 1 size" doc:"size of headings in points" section:"advanced" show:"output_format=pdf,docx" unit:"pt" zero:"automatic"`
	Heading2     float64     `json:"heading2_font_size" label:"Heading 2 size" doc:"size of headings in points" section:"advanced" show:"output_format=pdf,docx" unit:"pt" zero:"automatic"`
	Heading3     float64     `json:"heading3_font_size" label:"Heading 3 size" doc:"size of headings in points" section:"advanced" show:"output_format=pdf,docx" unit:"pt" zero:"automatic"`
	LineSpacing  float64     `json:"line_spacing" label:"Line spacing" doc:"distance of lines, in sizes of the text" section:"advanced" show:"output_format=pdf,docx" zero:"automatic" step:"0.1"`
	TextColor    string      `json:"text_color" label:"Text color" doc:"such as #1a2b3c" section:"advanced" widget:"color" show:"output_format=pdf,docx"`
	TitleColor   string      `json:"title_color" label:"Title color" doc:"such as #1a2b3c" section:"advanced" widget:"color" show:"output_format=pdf,docx"`
	MarginTop    float64     `json:"margin_top" label:"Margin at the top" doc:"margin in inches" section:"advanced" show:"output_format=pdf,docx" unit:"in" zero:"automatic" step:"0.1"`
	MarginRight  float64     `json:"margin_right" label:"Margin at the right" doc:"margin in inches" section:"advanced" show:"output_format=pdf,docx" unit:"in" zero:"automatic" step:"0.1"`
	MarginBottom float64     `json:"margin_bottom" label:"Margin at the bottom" doc:"margin in inches" section:"advanced" show:"output_format=pdf,docx" unit:"in" zero:"automatic" step:"0.1"`
	MarginLeft   float64     `json:"margin_left" label:"Margin at the left" doc:"margin in inches" section:"advanced" show:"output_format=pdf,docx" unit:"in" zero:"automatic" step:"0.1"`
	PageSize     string      `json:"page_size" label:"Page size" doc:"size of a page" shape:"A4 or Letter" section:"advanced" offer:"A4|Letter" show:"output_format=pdf,docx" default:"A4"`
	Orientation  string      `json:"orientation" label:"Orientation" doc:"upright or across" shape:"portrait or landscape" section:"advanced" offer:"portrait=Upright|landscape=Across" show:"output_format=pdf,docx" default:"portrait"`
	Logo         engine.Expr `json:"logo_image" label:"Logo" doc:"picture above the text" shape:"a file, or base64 of a PNG or JPEG" section:"advanced" widget:"prompt" show:"output_format=pdf,docx"`
	LogoPosition string      `json:"logo_position" label:"Logo position" doc:"left, center or right" section:"advanced" options:"left=Left|center=Center|right=Right" show:"output_format=pdf,docx&logo_image" default:"left"`
	LogoWidth    float64     `json:"logo_width" label:"Logo width" doc:"width at most, in inches" section:"advanced" show:"output_format=pdf,docx&logo_image" unit:"in" step:"0.1" default:"2"`
	LogoHeight   float64     `json:"logo_height" label:"Logo height" doc:"height at most, in inches" section:"advanced" show:"output_format=pdf,docx&logo_image" unit:"in" step:"0.1" default:"1"`
	PageNumbers  bool        `json:"add_page_numbers" label:"Page numbers" doc:"add page numbers" section:"output" default:"true"`
	Timestamp    bool        `json:"add_timestamp" label:"Time of creation" doc:"add the time of creation" section:"output" default:"true"`
	Watermark    engine.Expr `json:"watermark_text" label:"Watermark" doc:"watermark on each page" section:"advanced" show:"output_format=pdf,docx"`
	TOC          bool        `json:"enable_toc" label:"Table of contents" doc:"add a table of contents" section:"output"`
	KeepInfo     bool        `json:"include_download_info_in_content" label:"Keep file links in the text" doc:"leaves descriptions of files in the text" section:"advanced"`
}

// Run writes the document.
func (d *DocGenerator) Run(ctx context.Context, call *engine.Call) error {
	format := engine.ParseExpr(engine.String(d.OutputFormat)) // empty content is a document, too
	return d.act(ctx, call,
		arg{name: "output_format", param: &format}, arg{name: "content", param: &d.Content},
		arg{name: "title", param: &d.Title}, arg{name: "subtitle", param: &d.Subtitle},
		arg{name: "header_text", param: &d.HeaderText}, arg{name: "footer_text", param: &d.FooterText},
		arg{name: "filename", param: &d.Filename}, arg{name: "watermark_text", param: &d.Watermark},
		arg{name: "logo_image", param: &d.Logo})
}

var docGeneratorSpec = engine.Spec{
	Category: engine.CategoryTool, Group: engine.GroupFiles, Icon: "note",
	Name:  "DocGenerator",
	Title: "Write a document", Search: []string{"pdf", "word", "docx", "report", "报告"}, First: "content",
	Aliases: []string{"PDFGenerator"}, Renamed: true,
	Ignores: []string{"output_directory"},
	Doc:     "Writes a document file from text.", Retries: true, Waits: true,
	New: func() engine.Component { return &DocGenerator{} },
	Outputs: []engine.Field{
		{Name: "success", Type: "boolean", Doc: "whether it succeeded"},
		{Name: "download", Type: "string", Doc: "description of the file as JSON"},
		{Name: "attachment", Type: "object", Doc: "the written file: {doc_id, format, file_name}"},
		{Name: "doc_id", Type: "string", Doc: "id of the file"},
		{Name: "filename", Type: "string", Doc: "name of the file"},
		{Name: "file_path", Type: "string", Doc: "name of the file, for older canvases"},
		{Name: "mime_type", Type: "string", Doc: "MIME type of the file"},
		{Name: "size", Type: "number", Doc: "bytes of the file"},
		{Name: "pdf_base64", Type: "string", Doc: "the file in base64, up to 4 MiB; empty for a larger one"},
	},
	Thoughts: "Writing the document.",
	StandIn:  writeDocument,
}

// writeDocument returns the stand-in: it writes text and Markdown; instead of PDF and Word it
// writes HTML to print.
func writeDocument(args, params engine.Value) (engine.Value, bool) {
	title, content := args.Get("title").Str(), args.Get("content").Str()
	name := strings.Join(strings.FieldsFunc(args.Get("filename").Text(), unsafeInNames), "-")
	if name == "" {
		name = "document"
	}
	var file *engine.ObjectBuilder
	switch params.Get("output_format").Str() {
	case "txt":
		file = writtenFile(name+".txt", "text/plain", strings.TrimPrefix(title+"\n\n"+content, "\n\n"))
	case "md", "markdown":
		if title != "" {
			content = "# " + title + "\n\n" + content
		}
		file = writtenFile(name+".md", "text/markdown", content)
	default:
		file = writtenFile(name+".html", "text/html", htmlPage(title, content))
	}
	return engine.Object("success", true, "download", file.Value().JSON()), false
}

// unsafeInNames reports characters that are not allowed in file names.
func unsafeInNames(r rune) bool {
	letter := 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || r >= 0x80
	return !letter && (r < '0' || '9' < r) && !strings.ContainsRune("._-", r)
}

// htmlPage returns a page with the paragraphs of a text, which empty lines separate.
func htmlPage(title, content string) string {
	title = escapeHTML.Replace(title)
	var b strings.Builder
	b.WriteString("<!doctype html>\n<meta charset=\"utf-8\">\n<title>" + title + "</title>\n<h1>" + title + "</h1>\n")
	for _, part := range strings.Split(content, "\n\n") {
		if part = strings.Trim(part, "\n"); part != "" {
			b.WriteString("<p>" + strings.ReplaceAll(escapeHTML.Replace(part), "\n", "<br>") + "</p>\n")
		}
	}
	return b.String()
}
