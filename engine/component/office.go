package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// ExeSQL runs SQL on a database.
type ExeSQL struct {
	External
	SQL        engine.Expr `json:"sql" doc:"statements, separated by semicolons" default:"{sys.query}"`
	DBType     string      `json:"db_type" doc:"kind of database" default:"mysql" enum:"mysql,postgres,mariadb,mssql,IBM DB2,trino,oceanbase"`
	Database   string      `json:"database" doc:"name of the database"`
	Username   string      `json:"username" doc:"account"`
	Host       string      `json:"host" doc:"address of the server"`
	Port       int         `json:"port" doc:"port of the server" default:"3306" min:"1"`
	Password   string      `json:"password" doc:"password, best as {{secret:NAME}}"`
	MaxRecords int         `json:"max_records" doc:"rows of a result at most" default:"1024" min:"1"`
}

// Run runs the statements.
func (e *ExeSQL) Run(ctx context.Context, call *engine.Call) error {
	return e.act(ctx, call, arg{"sql", &e.SQL})
}

// Email sends a mail.
type Email struct {
	External
	To         engine.Expr `json:"to_email" doc:"address of the recipient" default:"{sys.query}"`
	CC         engine.Expr `json:"cc_email" doc:"further addresses, separated by commas"`
	Subject    engine.Expr `json:"subject" doc:"subject line"`
	Content    engine.Expr `json:"content" doc:"the mail, as HTML"`
	Server     string      `json:"smtp_server" doc:"address of the mail server"`
	Port       int         `json:"smtp_port" doc:"port of the mail server" default:"465" min:"1"`
	Account    string      `json:"email" doc:"address of the sender, which is the account too"`
	Password   string      `json:"password" doc:"password, best as {{secret:NAME}}"`
	SenderName string      `json:"sender_name" doc:"name of the sender"`
}

// Run sends the mail. Without a recipient nothing is sent.
func (e *Email) Run(ctx context.Context, call *engine.Call) error {
	call.Out("success", engine.Bool(false))
	return e.act(ctx, call, arg{"to_email", &e.To}, arg{"cc_email", &e.CC}, arg{"subject", &e.Subject}, arg{"content", &e.Content})
}

// ExcelProcessor reads, merges and writes spreadsheets.
type ExcelProcessor struct {
	External
	Operation      string        `json:"operation" doc:"what to do" default:"read" enum:"read,merge,transform,output"`
	InputFiles     []engine.Expr `json:"input_files" doc:"files, as references"`
	SheetSelection string        `json:"sheet_selection" doc:"all, first, or names separated by commas" default:"all"`
	MergeStrategy  string        `json:"merge_strategy" doc:"concat puts rows below each other, join matches them by join_on" default:"concat" enum:"concat,join"`
	JoinOn         string        `json:"join_on" doc:"column to match rows by"`
	TransformData  engine.Expr   `json:"transform_data" doc:"rows, or sheets of rows, as a reference"`
	OutputFormat   string        `json:"output_format" doc:"form of the written file" default:"xlsx" enum:"xlsx,csv"`
	OutputFilename string        `json:"output_filename" doc:"name of the written file, without ending" default:"output"`
}

// Run works on the files.
func (e *ExcelProcessor) Run(ctx context.Context, call *engine.Call) error {
	operation := engine.ParseExpr(engine.String(e.Operation))
	files := make([]engine.Value, 0, len(e.InputFiles))
	for i := range e.InputFiles {
		v, err := call.Eval(ctx, &e.InputFiles[i])
		if err != nil {
			return err
		}
		files = append(files, v)
	}
	input := engine.ParseExpr(engine.List(files...))
	return e.act(ctx, call, arg{"operation", &operation}, arg{"input_files", &input}, arg{"transform_data", &e.TransformData})
}

// DocGenerator writes a document: PDF, Word, text, Markdown or HTML.
type DocGenerator struct {
	External
	Content      engine.Expr `json:"content" doc:"text of the document, as Markdown"`
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

// Browser lets a language model use a web browser.
type Browser struct {
	External
	Sampling
	Prompts       engine.Expr   `json:"prompts" doc:"what to do" default:"{sys.query}"`
	MaxSteps      int           `json:"max_steps" doc:"actions at most" default:"30" min:"1"`
	Headless      bool          `json:"headless" doc:"without a window" default:"true"`
	UploadSources []engine.Expr `json:"upload_sources" doc:"files the browser may upload, as references"`
}

// Run browses.
func (b *Browser) Run(ctx context.Context, call *engine.Call) error {
	return b.act(ctx, call, arg{"prompts", &b.Prompts})
}

func officeSpecs() []engine.Spec {
	doc := engine.Spec{
		Name: "DocGenerator", Aliases: []string{"PDFGenerator"}, Doc: "Writes a document file from text.", Retries: true, Waits: true,
		New: func() engine.Component { return &DocGenerator{} },
		Outputs: []engine.Field{
			{Name: "success", Type: "boolean", Doc: "whether it worked"},
			{Name: "download", Type: "string", Doc: "JSON text that describes the file"},
		},
		Thoughts: "Writing the document.",
	}
	excel := engine.Spec{
		Name: "ExcelProcessor", Doc: "Reads, merges and writes spreadsheets.", Retries: true,
		New: func() engine.Component { return &ExcelProcessor{} },
		Outputs: []engine.Field{
			{Name: "data", Type: "object", Doc: "rows by file and sheet"},
			{Name: "summary", Type: "string", Doc: "what was read or written"},
			{Name: "markdown", Type: "string", Doc: "the first rows as tables"},
			{Name: "attachment", Type: "object", Doc: "the written file: {doc_id, format, file_name}"},
		},
		Thoughts: "Working on the spreadsheet.",
	}
	browser := engine.Spec{
		Name: "Browser", Doc: "Lets a language model use a web browser.", Waits: true,
		New: func() engine.Component { return &Browser{} },
		Outputs: []engine.Field{
			{Name: "content", Type: "string", Doc: "what was found"},
			{Name: "downloaded_files", Type: "list", Doc: "files: {file_id, name, size, parent_id}"},
		},
		Thoughts: "Using the browser.",
	}
	return []engine.Spec{
		outside("ExeSQL", "execute_sql", "Runs SQL on a database and gives the rows.", "formalized_content",
			func() engine.Component { return &ExeSQL{} }, wanted("sql", "the statement to run")),
		outside("Email", "email", "Sends a mail.", "success", func() engine.Component { return &Email{} },
			wanted("to_email", "address of the recipient"), maybe("cc_email", "string", "further addresses, separated by commas"),
			maybe("content", "string", "the mail, as HTML"), maybe("subject", "string", "subject line")),
		excel, doc, browser,
	}
}
