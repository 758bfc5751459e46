package sheet

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/document/write"
	"github.com/easel-canvas/easel/host/internal/tools/markdown"
)

// Files are the files of a run.
type Files interface {
	// Open finds a file by its descriptor, {id, name, ...}.
	Open(ctx context.Context, file engine.Value) (document.Source, error)
	// Save stores a file and returns {doc_id, format, file_name}.
	Save(ctx context.Context, name, format string, data []byte) (engine.Value, error)
}

// Processor runs ExcelProcessor nodes.
type Processor struct {
	Documents *document.Reader
	Files     Files
}

// Call runs a node: data holds records by file and sheet, summary a line for each, markdown their
// first rows. A file that cannot be read is a line of the summary, as long as another can be read.
func (p *Processor) Call(ctx context.Context, params, arguments engine.Value) (engine.Value, error) {
	switch operation := textOr(params, "operation", "read"); operation {
	case "read":
		return p.read(ctx, params, arguments)
	case "merge":
		return p.merge(ctx, params, arguments)
	case "transform", "output":
		return p.write(ctx, params, arguments, operation == "output")
	default:
		return engine.Null, fmt.Errorf("%w: operation %q (one of read, merge, transform, output)", ErrInput, operation)
	}
}

func textOr(v engine.Value, name, absent string) string {
	if text := v.Get(name).Text(); text != "" {
		return text
	}
	return absent
}

func (p *Processor) read(ctx context.Context, params, arguments engine.Value) (engine.Value, error) {
	tables, problems, err := p.tables(ctx, params, arguments)
	if err != nil {
		return engine.Null, err
	}
	return outputs(tables, problems, engine.Null), nil
}

func (p *Processor) merge(ctx context.Context, params, arguments engine.Value) (engine.Value, error) {
	tables, problems, err := p.tables(ctx, params, arguments)
	if err != nil {
		return engine.Null, err
	}
	var merged table
	switch strategy := textOr(params, "merge_strategy", "concat"); {
	case strategy == "concat":
		merged, err = concat(tables)
	case strategy == "join" && params.Get("join_on").Text() == "":
		err = fmt.Errorf("%w: merge_strategy join needs join_on, the column to match rows by", ErrInput)
	case strategy == "join":
		merged, err = join(tables, params.Get("join_on").Text())
	default:
		err = fmt.Errorf("%w: merge_strategy %q (one of concat, join)", ErrInput, strategy)
	}
	if err != nil {
		return engine.Null, err
	}
	return outputs([]table{merged}, problems, engine.Null), nil
}

// write takes tables from a node before; with store it makes a file of them.
func (p *Processor) write(ctx context.Context, params, arguments engine.Value, store bool) (engine.Value, error) {
	tables, err := givenTables(arguments.Get("transform_data"))
	if err != nil {
		return engine.Null, err
	}
	if !store {
		return outputs(tables, nil, engine.Null), nil
	}
	name := path.Base("/" + strings.ReplaceAll(textOr(params, "output_filename", "output"), `\`, "/"))
	var data []byte
	format := textOr(params, "output_format", "xlsx")
	switch {
	case format == "xlsx":
		sheets := make([]document.Sheet, len(tables))
		for i := range tables {
			sheets[i] = document.Sheet{Name: tables[i].name, Rows: tables[i].cells()}
		}
		data, err = write.Workbook(sheets)
	case format == "csv" && len(tables) > 1:
		err = fmt.Errorf("%w: a csv file has one table, and transform_data has %d; choose xlsx", ErrInput, len(tables))
	case format == "csv":
		data, err = writeCSV(&tables[0])
	default:
		err = fmt.Errorf("%w: output_format %q (one of xlsx, csv)", ErrInput, format)
	}
	if err != nil {
		return engine.Null, err
	}
	name = strings.TrimSuffix(name, "."+format) + "." + format
	attachment, err := p.Files.Save(ctx, name, format, data)
	if err != nil {
		return engine.Null, fmt.Errorf("save %s: %w", name, err)
	}
	return outputs(tables, nil, attachment), nil
}

// givenTables reads rows, sheets of rows, or either as JSON text.
func givenTables(v engine.Value) ([]table, error) {
	if v.Kind() == engine.KindString {
		parsed, err := engine.ParseJSONText(v.Text())
		if err != nil {
			return nil, fmt.Errorf("%w: transform_data is a text that is not JSON: %w", ErrInput, err)
		}
		v = parsed
	}
	switch v.Kind() {
	case engine.KindList:
		t, err := tableFrom("Sheet1", v)
		return []table{t}, err
	case engine.KindObject:
		var tables []table
		for name, rows := range v.Fields() {
			t, err := tableFrom(name, rows)
			if err != nil {
				return nil, err
			}
			tables = append(tables, t)
		}
		if len(tables) > 0 {
			return tables, nil
		}
	}
	return nil, fmt.Errorf("%w: transform_data is empty; it takes a list of rows, or an object of such lists", ErrInput)
}

// tables reads the input files. problems are the files that could not be read.
func (p *Processor) tables(ctx context.Context, params, arguments engine.Value) (
	tables []table, problems []string, err error,
) {
	files := descriptors(arguments.Get("input_files"))
	if len(files) == 0 {
		return nil, nil, fmt.Errorf("%w: input_files holds no file", ErrInput)
	}
	var failed []error
	cells := 0
	for _, file := range files {
		found, err := p.open(ctx, file, textOr(params, "sheet_selection", "all"))
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", file.Get("name").Text(), err))
			continue
		}
		for _, t := range found {
			if cells += len(t.columns) * len(t.rows); cells > mostCells {
				return nil, nil, fmt.Errorf("%w: more than %d", ErrTooLarge, mostCells)
			}
		}
		tables = append(tables, found...)
	}
	if len(tables) == 0 {
		return nil, nil, errors.Join(failed...)
	}
	for _, err := range failed {
		problems = append(problems, err.Error())
	}
	return tables, problems, nil
}

// descriptors returns the files of a value: one descriptor, or lists of them.
func descriptors(v engine.Value) []engine.Value {
	switch v.Kind() {
	case engine.KindObject:
		return []engine.Value{v}
	case engine.KindList:
		var files []engine.Value
		for _, item := range v.Slice() {
			files = append(files, descriptors(item)...)
		}
		return files
	}
	return nil
}

// open reads the chosen sheets of a file.
func (p *Processor) open(ctx context.Context, file engine.Value, selection string) ([]table, error) {
	source, err := p.Files.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	stem := strings.TrimSuffix(source.Name, path.Ext(source.Name))
	if ext := strings.ToLower(path.Ext(source.Name)); ext == ".csv" || ext == ".tsv" {
		text, err := p.Documents.Read(ctx, source)
		if err != nil {
			return nil, err
		}
		rows, err := readCSV(text)
		return []table{tableOf(stem, rows)}, err
	}
	sheets, err := p.Documents.Sheets(ctx, source)
	if err != nil {
		return nil, err
	}
	chosen, err := choose(sheets, selection)
	if err != nil {
		return nil, err
	}
	tables := make([]table, len(chosen))
	for i, s := range chosen {
		name := stem
		if len(sheets) > 1 {
			name += "_" + s.Name
		}
		tables[i] = tableOf(name, s.Rows)
	}
	return tables, nil
}

// choose takes all sheets, the first one, or those named.
func choose(sheets []document.Sheet, selection string) ([]document.Sheet, error) {
	switch {
	case len(sheets) == 0:
		return nil, fmt.Errorf("%w: it has no sheet", ErrInput)
	case selection == "all":
		return sheets, nil
	case selection == "first":
		return sheets[:1], nil
	}
	var chosen []document.Sheet
	var names []string
	for _, s := range sheets {
		names = append(names, s.Name)
	}
	for name := range strings.SplitSeq(selection, ",") {
		name = strings.TrimSpace(name)
		found := false
		for _, s := range sheets {
			if s.Name == name {
				chosen, found = append(chosen, s), true
			}
		}
		if !found && name != "" {
			return nil, fmt.Errorf("%w: sheet %q does not exist (its sheets: %q)", ErrInput, name, names)
		}
	}
	return chosen, nil
}

// shownRows bounds the rows of a table in the Markdown.
const shownRows = 10

func outputs(tables []table, problems []string, attachment engine.Value) engine.Value {
	data := engine.NewObject(len(tables))
	var summary, shown []string
	for i := range tables {
		t := &tables[i]
		data.Set(t.name, t.records())
		summary = append(summary, fmt.Sprintf("%s: %d rows, %d columns (%s)",
			t.name, len(t.rows), len(t.columns), strings.Join(t.columns, ", ")))
		shown = append(shown, "### "+t.name+"\n\n"+t.markdown())
	}
	return engine.Object(
		"data", data.Value(), "summary", strings.Join(append(summary, problems...), "\n"),
		"markdown", strings.Join(shown, "\n\n"), "attachment", attachment,
	)
}

// markdown returns a table of the first rows.
func (t *table) markdown() string {
	rows := make([][]string, min(len(t.rows), shownRows))
	for i := range rows {
		for _, v := range t.rows[i] {
			rows[i] = append(rows[i], v.Text())
		}
	}
	return markdown.Table(t.columns, rows)
}
