package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/tools/markdown"
)

// noRecord is the content of a result without rows, with the text of RAGFlow, which prompts of
// canvases refer to.
const noRecord = "No record in the database!"

// Call runs an ExeSQL node: json is a list with the records of each statement, formalized_content
// their tables as Markdown. Params must hold no placeholders of secrets any more. A statement that
// fails is part of both outputs. The argument template, if any, replaces sql: a list of texts and
// of {value}, which are bound as parameters.
func (r *Runner) Call(ctx context.Context, params, arguments engine.Value) (engine.Value, error) {
	settings, err := SettingsOf(params)
	if err != nil {
		return engine.Value{}, err
	}
	query := arguments.Get("sql")
	if query.Kind() != engine.KindString || strings.TrimSpace(query.Text()) == "" {
		return engine.Value{}, errors.New("sql is empty; it needs at least one statement")
	}
	text, values, err := assemble(query.Text(), arguments.Get("template"))
	if err != nil {
		return engine.Value{}, err
	}
	results, err := r.run(ctx, &settings, text, values)
	if err != nil {
		return engine.Value{}, err
	}
	var lists []engine.Value
	var tables []string
	for _, result := range results {
		list, table := result.outputs()
		lists, tables = append(lists, list), append(tables, table)
	}
	return engine.Object(
		"json", engine.List(lists...), "formalized_content", strings.Join(tables, "\n\n"),
	), nil
}

// outputs returns the records of a result and their table.
func (r *Result) outputs() (engine.Value, string) {
	switch {
	case r.Err != nil:
		message := "SQL Execution Failed: " + r.Err.Error()
		return note(message), message
	case len(r.Rows) == 0:
		return note(noRecord), noRecord
	}
	names := distinct(r.Columns)
	records := make([]engine.Value, len(r.Rows))
	for i, row := range r.Rows {
		record := engine.NewObject(len(names))
		for j, cell := range row {
			record.Set(names[j], cell)
		}
		records[i] = record.Value()
	}
	return engine.List(records...), markdownTable(names, r.Rows)
}

// note returns the record of a result without rows.
func note(text string) engine.Value { return engine.List(engine.Object("content", text)) }

// distinct makes the names of columns unique, since a join may return two of the same name.
func distinct(columns []string) []string {
	seen := map[string]bool{}
	names := make([]string, len(columns))
	for i, name := range columns {
		unique := name
		for n := 2; seen[unique]; n++ {
			unique = fmt.Sprintf("%s_%d", name, n)
		}
		seen[unique] = true
		names[i] = unique
	}
	return names
}

// markdownTable returns a result for prompts.
func markdownTable(columns []string, rows [][]engine.Value) string {
	texts := make([][]string, len(rows))
	for i, row := range rows {
		for _, cell := range row {
			texts[i] = append(texts[i], cell.Text())
		}
	}
	return markdown.Table(columns, texts)
}
