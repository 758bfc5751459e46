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
	Content      engine.Expr `json:"content" doc:"text of the document, as Markdown" check:"nonempty"`
	Title        engine.Expr `json:"title" doc:"title on the first page"`
	Subtitle     engine.Expr `json:"subtitle" doc:"line below the title"`
	OutputFormat string      `json:"output_format" doc:"format of the document" default:"pdf" enum:"pdf,docx,txt,markdown,html,md"`
	HeaderText   engine.Expr `json:"header_text" doc:"line at the top of each page" group:"page"`
	FooterText   engine.Expr `json:"footer_text" doc:"line at the bottom of each page" group:"page"`
	FontFamily   string      `json:"font_family" doc:"not used: the font is one that has the letters of the text" default:"Helvetica" group:"page"`
	FontSize     int         `json:"font_size" doc:"size of the text in points" default:"12" min:"1" group:"page"`
	TitleSize    float64     `json:"title_font_size" doc:"size of the title in points" group:"page"`
	Heading1     float64     `json:"heading1_font_size" doc:"size of headings in points" label:"Heading 1 size" group:"page"`
	Heading2     float64     `json:"heading2_font_size" doc:"size of headings in points" label:"Heading 2 size" group:"page"`
	Heading3     float64     `json:"heading3_font_size" doc:"size of headings in points" label:"Heading 3 size" group:"page"`
	LineSpacing  float64     `json:"line_spacing" doc:"distance of lines, in sizes of the text" group:"page"`
	TextColor    string      `json:"text_color" doc:"color, such as #1a2b3c" group:"page"`
	TitleColor   string      `json:"title_color" doc:"color, such as #1a2b3c" group:"page"`
	MarginTop    float64     `json:"margin_top" doc:"margin in inches" group:"page"`
	MarginRight  float64     `json:"margin_right" doc:"margin in inches" group:"page"`
	MarginBottom float64     `json:"margin_bottom" doc:"margin in inches" group:"page"`
	MarginLeft   float64     `json:"margin_left" doc:"margin in inches" group:"page"`
	PageSize     string      `json:"page_size" doc:"A4 or Letter" default:"A4" group:"page"`
	Orientation  string      `json:"orientation" doc:"portrait or landscape" default:"portrait" group:"page"`
	Logo         engine.Expr `json:"logo_image" doc:"picture above the text: a file, or base64 of a PNG or JPEG" group:"page"`
	LogoPosition string      `json:"logo_position" doc:"left, center or right" default:"left" enum:"left,center,right" group:"page"`
	LogoWidth    float64     `json:"logo_width" doc:"width at most, in inches" default:"2" group:"page"`
	LogoHeight   float64     `json:"logo_height" doc:"height at most, in inches" default:"1" group:"page"`
	Filename     engine.Expr `json:"filename" doc:"name of the file without extension"`
	PageNumbers  bool        `json:"add_page_numbers" doc:"add page numbers" default:"true" label:"Page numbers" group:"page"`
	Timestamp    bool        `json:"add_timestamp" doc:"add the time of creation" default:"true" label:"Timestamp" group:"page"`
	Watermark    engine.Expr `json:"watermark_text" doc:"watermark on each page" group:"page"`
	TOC          bool        `json:"enable_toc" doc:"add a table of contents" label:"Table of contents" group:"page"`
	KeepInfo     bool        `json:"include_download_info_in_content" doc:"keep the descriptor in the text of messages that show download" label:"Keep file descriptor"`
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
	Category: engine.CategoryTool, Icon: "note",
	Name: "DocGenerator", Aliases: []string{"PDFGenerator"}, Renamed: true,
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
