package sheet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
)

// folder contains files by id, and saved ones by name.
type folder struct{ files, saved map[string][]byte }

func (f folder) Open(_ context.Context, file engine.Value) (document.Source, error) {
	data, ok := f.files[file.Get("id").Text()]
	if !ok {
		return document.Source{}, errors.New("no such file")
	}
	return document.Bytes(file.Get("name").Text(), "", data), nil
}

func (f folder) Save(_ context.Context, name, format string, data []byte) (engine.Value, error) {
	f.saved[name] = data
	return engine.Object("doc_id", "d1", "format", format, "file_name", name), nil
}

// workbook makes an xlsx file with another program's writer.
func workbook(t *testing.T, sheets map[string][][]any) []byte {
	t.Helper()
	f := excelize.NewFile()
	for name, rows := range sheets {
		_, err := f.NewSheet(name)
		require.NoError(t, err)
		for i, row := range rows {
			require.NoError(t, f.SetSheetRow(name, fmt.Sprintf("A%d", i+1), &row))
		}
	}
	require.NoError(t, f.DeleteSheet("Sheet1"))
	var b bytes.Buffer
	require.NoError(t, f.Write(&b))
	require.NoError(t, f.Close())
	return b.Bytes()
}

func file(id, name string) engine.Value { return engine.Object("id", id, "name", name) }

func call(t *testing.T, f folder, params, arguments engine.Value) engine.Value {
	t.Helper()
	out, err := (&Processor{Documents: new(document.Reader), Files: f}).Call(t.Context(), params, arguments)
	require.NoError(t, err)
	return out
}

func TestReadKeepsTypes(t *testing.T) {
	f := folder{files: map[string][]byte{"1": workbook(t, map[string][][]any{"Prices": {
		{"item", "price", "", "item", "day", "share"},
		{"tea | green", 2.5, nil, "007", time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC), true},
		{"12", 9007199254740991, "x"},
	}})}}
	out := call(t, f, engine.Null, engine.Object("input_files", engine.List(file("1", "shop.xlsx"))))
	require.Equal(t, `{"shop":[`+
		`{"item":"tea | green","price":2.5,"Unnamed: 2":null,"item.1":"007","day":"2026-02-03","share":"TRUE"},`+
		`{"item":"12","price":9007199254740990,"Unnamed: 2":"x","item.1":null,"day":null,"share":null}]}`,
		out.Get("data").JSON(), "numbers have the 15 digits of a sheet")
	require.Equal(t, "shop: 2 rows, 6 columns (item, price, Unnamed: 2, item.1, day, share)", out.Get("summary").Text())
	require.Contains(t, out.Get("markdown").Text(), `| tea \| green | 2.5 |  | 007 | 2026-02-03 | TRUE |`)
}

func TestSheetsAreChosen(t *testing.T) {
	f := folder{files: map[string][]byte{
		"1": workbook(t, map[string][][]any{"A": {{"x"}, {1}}, "B": {{"y"}, {2}}}),
		"2": []byte("x;y\n1;a,b\n007;\"c\n\"\n"),
	}}
	files := engine.Object("input_files", engine.List(file("1", "book.xlsx"), engine.List(file("2", "plain.csv"))))
	names := func(selection string) (list []string) {
		for name := range call(t, f, engine.Object("sheet_selection", selection), files).Get("data").Fields() {
			list = append(list, name)
		}
		return list
	}
	require.ElementsMatch(t, []string{"book_A", "book_B", "plain"}, names("all"))
	require.ElementsMatch(t, []string{"book_B", "plain"}, names("B"))
	require.Len(t, names("first"), 2)
	out := call(t, f, engine.Object("sheet_selection", "C"), files)
	require.Equal(t, `[{"x":1,"y":"a,b"},{"x":"007","y":"c\n"}]`, out.Get("data").Get("plain").JSON())
	require.Contains(t, out.Get("summary").Text(), `book.xlsx: spreadsheet: sheet "C" does not exist (its sheets:`)
}

func TestMerge(t *testing.T) {
	f := folder{files: map[string][]byte{
		"1": []byte("id,name\n1,ann\n2,bob\n3,eve\n"), "2": []byte("id,name,age\n2,bo,20\n2,b,21\n4,dan,40\n"),
	}}
	files := engine.Object("input_files", engine.List(file("1", "one.csv"), file("2", "two.csv")))
	out := call(t, f, engine.Object("operation", "merge"), files)
	require.Equal(
		t,
		`[{"id":1,"name":"ann","age":null},{"id":2,"name":"bob","age":null},{"id":3,"name":"eve","age":null},`+
			`{"id":2,"name":"bo","age":20},{"id":2,"name":"b","age":21},{"id":4,"name":"dan","age":40}]`,
		out.Get("data").Get("merged").JSON(),
	)
	out = call(t, f, engine.Object("operation", "merge", "merge_strategy", "join", "join_on", "id"), files)
	require.Equal(
		t,
		`[{"id":1,"name":"ann","name (two)":null,"age":null},{"id":2,"name":"bob","name (two)":"bo","age":20},`+
			`{"id":2,"name":"bob","name (two)":"b","age":21},{"id":3,"name":"eve","name (two)":null,"age":null},`+
			`{"id":4,"name":null,"name (two)":"dan","age":40}]`,
		out.Get("data").Get("merged").JSON(),
	)
}

// A program that opens a csv file calculates none of its texts.
func TestCSVHasNoFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"=cmd|' /C calc'!A0": `'=cmd|' /C calc'!A0`, "=1+1": "'=1+1", "@SUM(A1)": "'@SUM(A1)", "+cmd|x": "'+cmd|x",
		"-cmd|x": "'-cmd|x", "\t=1": "'\t=1", "\r=1": "\"'\r=1\"", "＝SUM(A1)": "'＝SUM(A1)",
		`=HYPERLINK("http://x")`: `"'=HYPERLINK(""http://x"")"`, `=IMAGE("http://x")`: `"'=IMAGE(""http://x"")"`,
		"+49 30 1234": "+49 30 1234", "-2.5": "-2.5", "-": "-", "a=b": "a=b", "'=x": "'=x", "": "",
	} {
		f := folder{saved: map[string][]byte{}}
		rows := engine.Object("transform_data", engine.List(engine.Object("=column", text, "b", 1)))
		call(t, f, engine.Object("operation", "output", "output_format", "csv"), rows)
		require.Equal(t, "'=column,b\n"+want+",1\n", string(f.saved["output.csv"]), text)
	}
}

func TestOutputWritesAFile(t *testing.T) {
	f := folder{saved: map[string][]byte{}}
	data := engine.Object("transform_data", engine.Object(
		"Sums", engine.List(engine.Object("a", 1, "b", "=1+1"), engine.Object("a", 2.5, "c", "007")),
		"Lists", engine.List(engine.Strings("x", "y"), engine.List(engine.Int(1), engine.String("z"))),
	))
	out := call(t, f, engine.Object("operation", "output", "output_filename", "../../report.xlsx"), data)
	require.Equal(t, `{"doc_id":"d1","format":"xlsx","file_name":"report.xlsx"}`, out.Get("attachment").JSON())
	book, err := excelize.OpenReader(bytes.NewReader(f.saved["report.xlsx"]))
	require.NoError(t, err)
	rows, err := book.GetRows("Sums")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"a", "b", "c"}, {"1", "=1+1"}, {"2.5", "", "007"}}, rows)
	kind, err := book.GetCellType("Sums", "C3")
	require.NoError(t, err)
	require.Equal(t, excelize.CellTypeInlineString, kind)
	rows, err = book.GetRows("Lists")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"x", "y"}, {"1", "z"}}, rows)

	rowsOnly := engine.Object("transform_data", `[{"a":"x,y"},{"b":true}]`)
	out = call(t, f, engine.Object("operation", "output", "output_format", "csv"), rowsOnly)
	require.Equal(t, "a,b\n\"x,y\",\n,true\n", string(f.saved["output.csv"]))
	require.Equal(t, `{"Sheet1":[{"a":"x,y","b":null},{"a":null,"b":true}]}`, out.Get("data").JSON())
	require.Equal(t, out.Get("data"), call(t, f, engine.Object("operation", "transform"), rowsOnly).Get("data"))
}

func TestWrongInput(t *testing.T) {
	f := folder{files: map[string][]byte{"1": []byte("id\n1\n"), "2": []byte("%PDF-1.4"), "3": []byte("plain text")}}
	csv := engine.Object("input_files", engine.List(file("1", "one.csv")))
	with := func(pairs ...any) engine.Value { return engine.Object(pairs...) }
	files := func(f any) engine.Value { return with("input_files", f) }
	data := func(text string) engine.Value { return with("transform_data", text) }
	merge := func(on string) engine.Value {
		return with("operation", "merge", "merge_strategy", "join", "join_on", on)
	}
	output := with("operation", "output")
	for want, c := range map[string][2]engine.Value{
		`operation "sum" (one of read, merge, transform, output)`: {with("operation", "sum"), csv},
		"input_files holds no file":                               {engine.Null, files("x")},
		"no such file":                                            {engine.Null, files(file("9", "gone.xlsx"))},
		"it is not a workbook":                                    {engine.Null, files(file("3", "text.txt"))},
		"merge_strategy join needs join_on":                       {merge(""), csv},
		`join_on "x" is not a column of one`:                      {merge("x"), csv},
		"transform_data is empty":                                 {output, engine.Null},
		"transform_data is a text that is not JSON":               {output, data("{")},
		"row 1 of Sheet1 is neither":                              {output, data("[1]")},
		"a csv file has one table": {
			with("operation", "output", "output_format", "csv"), data(`{"a":[{"x":1}],"b":[{"x":1}]}`),
		},
	} {
		_, err := (&Processor{Documents: new(document.Reader), Files: f}).Call(t.Context(), c[0], c[1])
		require.ErrorContains(t, err, want)
	}
}

func TestJoinIsBounded(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("id\n")
	for range 2000 {
		b.WriteString("1\n")
	}
	f := folder{files: map[string][]byte{"1": b.Bytes()}}
	_, err := (&Processor{Documents: new(document.Reader), Files: f}).Call(t.Context(),
		engine.Object("operation", "merge", "merge_strategy", "join", "join_on", "id"),
		engine.Object("input_files", engine.List(file("1", "a.csv"), file("1", "b.csv"))))
	require.ErrorIs(t, err, ErrTooLarge)
}

func FuzzCSV(f *testing.F) {
	f.Add("a,b\n1,\"x\ny\"\n")
	f.Add("a;b\r\n;;;\r\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := readCSV(text)
		if err != nil {
			return
		}
		parsed := tableOf("t", rows)
		for _, row := range parsed.rows {
			require.Len(t, row, len(parsed.columns))
		}
	})
}
