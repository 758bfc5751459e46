package component

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// ExcelProcessor reads, merges and writes spreadsheets.
type ExcelProcessor struct {
	External
	Operation      string        `json:"operation" doc:"the operation" default:"read" enum:"read,merge,transform,output"`
	InputFiles     []engine.Expr `json:"input_files" doc:"files, as references"`
	SheetSelection string        `json:"sheet_selection" doc:"all, first, or names separated by commas" default:"all"`
	MergeStrategy  string        `json:"merge_strategy" doc:"concat appends rows, join matches them by join_on" default:"concat" enum:"concat,join"`
	JoinOn         string        `json:"join_on" doc:"column to match rows by"`
	TransformData  engine.Expr   `json:"transform_data" doc:"rows, or sheets of rows, as a reference"`
	OutputFormat   string        `json:"output_format" doc:"format of the written file" default:"xlsx" enum:"xlsx,csv"`
	OutputFilename string        `json:"output_filename" doc:"name of the written file without extension" default:"output"`
}

// Run processes the files.
func (e *ExcelProcessor) Run(ctx context.Context, call *engine.Call) error {
	operation := engine.ParseExpr(engine.String(e.Operation))
	files, err := evaluated(ctx, call, e.InputFiles)
	if err != nil {
		return err
	}
	input := engine.ParseExpr(files)
	return e.act(ctx, call, arg{name: "operation", param: &operation}, arg{name: "input_files", param: &input},
		arg{name: "transform_data", param: &e.TransformData})
}

var excelProcessorSpec = engine.Spec{
	Category: engine.CategoryTool, Icon: "grid",
	Name: "ExcelProcessor", Doc: "Reads, merges and writes spreadsheets.", Retries: true,
	New: func() engine.Component { return &ExcelProcessor{} },
	Outputs: []engine.Field{
		{Name: "data", Type: "object", Doc: "rows by file and sheet"},
		{Name: "summary", Type: "string", Doc: "summary of the result"},
		{Name: "markdown", Type: "string", Doc: "the first rows as tables"},
		{Name: "attachment", Type: "object", Doc: "the written file: {doc_id, format, file_name}"},
	},
	Thoughts: "Processing the spreadsheet.",
	StandIn:  writeSheet,
}

// writeSheet returns the stand-in: it writes rows as CSV and returns invented rows for other
// operations.
func writeSheet(args, params engine.Value) (engine.Value, bool) {
	if args.Get("operation").Str() != "output" {
		return engine.Object("summary", notice("ExcelProcessor", args), "data", engine.Object(), "markdown", ""), true
	}
	var rows []engine.Value
	var names []string
	for _, row := range args.Get("transform_data").Elements() {
		if row.Kind() != engine.KindObject {
			continue
		}
		rows = append(rows, row)
		for name := range row.Fields() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	csv, table := sheetText(names, rows)
	name := params.Get("output_filename").Str()
	if name == "" {
		name = "output"
	}
	name += ".csv"
	file := writtenFile(name, "text/csv", csv).Set("format", engine.String("csv")).Set("file_name", engine.String(name))
	return engine.Object("summary", fmt.Sprintf("%s: %d rows", name, len(rows)),
		"data", engine.Object(name, engine.List(rows...)), "markdown", table, "attachment", file.Value()), false
}

// sheetText returns a sheet as CSV and as a Markdown table.
func sheetText(names []string, rows []engine.Value) (csv, table string) {
	var c, t strings.Builder
	line := func(cells []string) {
		t.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	quoted := func(cells []string) {
		for i, cell := range cells {
			if i > 0 {
				c.WriteByte(',')
			}
			if strings.ContainsAny(cell, "\",\n") {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			c.WriteString(cell)
		}
		c.WriteByte('\n')
	}
	quoted(names)
	line(names)
	line(slices.Repeat([]string{"---"}, len(names)))
	for _, row := range rows {
		cells := make([]string, len(names))
		for i, name := range names {
			cells[i] = row.Get(name).Text()
		}
		quoted(cells)
		line(cells)
	}
	return c.String(), strings.TrimSuffix(t.String(), "\n")
}
