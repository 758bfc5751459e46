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
	Operation      string        `json:"operation" label:"Do" doc:"what is done with the files" options:"read=Read|merge=Merge|transform=Change|output=Write" default:"read"`
	InputFiles     []engine.Expr `json:"input_files" label:"Files" doc:"spreadsheets or CSV files" widget:"files" show:"operation=read,merge" want:"Choose a file."`
	SheetSelection string        `json:"sheet_selection" label:"Sheets" doc:"all, first, or names separated by commas" show:"operation=read,merge" default:"all"`
	MergeStrategy  string        `json:"merge_strategy" label:"How" doc:"put rows below each other, or match them by a column" options:"concat=Append rows|join=Match rows" show:"operation=merge" default:"concat"`
	JoinOn         string        `json:"join_on" label:"By column" doc:"column to match rows by" show:"operation=merge&merge_strategy=join" want:"Enter the column to match by."`
	TransformData  engine.Expr   `json:"transform_data" label:"Rows" doc:"rows, or sheets of rows" show:"operation=transform,output" want:"Choose the rows."`
	OutputFormat   string        `json:"output_format" label:"As" doc:"format of the written file" options:"xlsx=Excel|csv=CSV" show:"operation=merge,transform,output" default:"xlsx"`
	OutputFilename string        `json:"output_filename" label:"File name" doc:"without extension" show:"operation=merge,transform,output" default:"output"`
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
	Category: engine.CategoryTool, Group: engine.GroupFiles, Icon: "grid",
	Name:  "ExcelProcessor",
	Title: "Spreadsheet", Search: []string{"excel", "csv", "table", "表格"},
	Doc: "Reads, merges and writes spreadsheets.", Retries: true,
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
