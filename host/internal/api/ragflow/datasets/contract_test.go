package datasets_test

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/datasets"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// The contract of the dialects about datasets: one row and more for every route, each against a
// real host. A route without a row fails TestContract.

// row is a request and what is expected.
type row struct {
	dialect string // "old", "new"; "" is both
	call    string // method and path; {dataset}, {document}, {chunk}, {none} are put in, here and in body
	body    string // "FILE:name" and further names are a form of files, "FORM:a=b&c=d" one of fields
	code    int
	// message is the answer's message; one that begins with ~ is a part of it.
	message string
	// keys are members of data, or of its first element.
	keys string
}

// yes is a request that succeeds, with members of its data.
func yes(call, body, keys string) row { return row{call: call, body: body, keys: keys} }

// no is a request that is refused.
func no(code int, call, body, message string) row {
	return row{call: call, body: body, code: code, message: message}
}

// in returns rows of one dialect.
func in(dialect string, rows ...row) []row {
	for i := range rows {
		rows[i].dialect = dialect
	}
	return rows
}

func put(b apitest.Belongings, text string) string {
	return strings.NewReplacer("{dataset}", b.Dataset, "{document}", b.Document, "{chunk}", b.Chunk,
		"{none}", apitest.Nowhere).Replace(text)
}

// formOf is a multipart body with files of the given names, or with fields.
func formOf(names []string, fields url.Values) (body, contentType string) {
	const mark = "xxMARKxx"
	for _, n := range names {
		head := `Content-Disposition: form-data; name="file"; filename="` + n + `"`
		body += "--" + mark + "\r\n" + head + "\r\n\r\nhello\r\n"
	}
	for name := range fields {
		head := `Content-Disposition: form-data; name="` + name + `"`
		body += "--" + mark + "\r\n" + head + "\r\n\r\n" + fields.Get(name) + "\r\n"
	}
	return body + "--" + mark + "--\r\n", "multipart/form-data; boundary=" + mark
}

func (r row) run(t *testing.T, s *apitest.Site, dialect string, b apitest.Belongings) {
	s.T = t
	method, path, _ := strings.Cut(put(b, r.call), " ")
	body := put(b, r.body)
	header := []string{"Content-Type", "application/json"}
	if names, ok := strings.CutPrefix(body, "FILE:"); ok {
		var kind string
		body, kind = formOf(strings.Split(names, ","), nil)
		header = []string{"Content-Type", kind}
	}
	if text, ok := strings.CutPrefix(body, "FORM:"); ok {
		fields, err := url.ParseQuery(text)
		require.NoError(t, err)
		var kind string
		body, kind = formOf(nil, fields)
		header = []string{"Content-Type", kind}
	}
	if dialect == "new" {
		path = ragflow.NewerPrefix + path
	}
	a := s.Request(method, path, "one", body, header...)
	require.Equal(t, 200, a.Status, a.Text)
	require.Equal(t, r.code, a.Code(), a.Text)
	if part, ok := strings.CutPrefix(r.message, "~"); ok {
		require.Contains(t, a.Message(), put(b, part))
	} else if r.message != "" {
		require.Equal(t, put(b, r.message), a.Message())
	}
	data := a.Data()
	if data.Kind() == engine.KindList && r.keys != "" {
		data = data.At(0)
	}
	apitest.RequireKeys(t, data, put(b, r.keys))
}

func TestContract(t *testing.T) {
	s := apitest.New(t)
	var shared apitest.Belongings
	s.FurnishDataset(&shared)
	tried := map[string]bool{}
	for _, r := range contract {
		for _, dialect := range []string{"old", "new"} {
			if r.dialect != "" && r.dialect != dialect {
				continue
			}
			t.Run(dialect+" "+r.call+" "+r.body, func(t *testing.T) {
				s.T = t
				b := shared
				if r.code == 0 { // a refusal changes nothing
					s.FurnishDataset(&b)
				}
				method, path, _ := strings.Cut(put(b, r.call), " ")
				if dialect == "new" {
					path = ragflow.NewerPrefix + path
				}
				route := s.API.Route(httptest.NewRequest(method, path, nil))
				require.NotNil(t, route, "no such route")
				tried[method+" "+route.Path] = true
				r.run(t, s, dialect, b)
			})
		}
	}
	s.T = t
	for prefix, d := range map[string]datasets.Dialect{"": datasets.Older(), ragflow.NewerPrefix: datasets.Newer()} {
		for _, r := range datasets.Routes(s.Services, d) {
			for m := range strings.FieldsSeq(r.Method) {
				if !tried[m+" "+prefix+r.Path] {
					t.Errorf("%s %s%s has no row: say in contract_rows_test.go what it answers", m, prefix, r.Path)
				}
			}
		}
	}
}

// TestStrangersGetNothing calls every route as another tenant and without a key.
func TestStrangersGetNothing(t *testing.T) {
	s := apitest.New(t)
	var b apitest.Belongings
	s.FurnishDataset(&b)
	apitest.EachRoute(s, func(r api.Route, method string) {
		if !strings.Contains(r.Path, "{dataset}") && !strings.Contains(r.Path, "{document}") {
			return
		}
		path := b.Fill(r.Path) + "?type=graph"
		if strings.HasPrefix(r.Path, "/api/v2/") {
			path = b.Fill(r.Path)
		}
		body := `{"document_ids":["` + b.Document + `"],"ids":["` + b.Document + `"],"name":"stolen","content":"stolen",
			"chunk_ids":["` + b.Chunk + `"],"available":true,"question":"secret","documents":["` + b.Document + `"]}`
		a := s.Request(method, path, "", body)
		require.Equal(t, 401, a.Status, "%s %s", method, r.Path)
		a = s.Request(method, path, "two", body)
		require.NotEqual(t, 0, a.Code(), "%s %s: %s", method, r.Path, a.Text)
		require.NotContains(t, a.Text, "my secret", "%s %s", method, r.Path)
	})
	documents := "/api/v1/datasets/" + b.Dataset + "/documents"
	require.Equal(t, 1, s.Good(s.Get(documents)).Data().Get("docs").Len())
	require.Equal(t, 1, s.Good(s.Get(documents+"/"+b.Document+"/chunks")).Data().Get("chunks").Len())
}
