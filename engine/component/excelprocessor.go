package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

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

var excelProcessorSpec = engine.Spec{
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
