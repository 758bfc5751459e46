package component

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// wire is an HTTP port that records requests and fails a given number of times.
type wire struct {
	asked []engine.HTTPRequest
	fails int
	body  string
}

func (w *wire) Do(_ context.Context, req *engine.HTTPRequest) (*engine.HTTPResponse, error) {
	w.asked = append(w.asked, *req)
	if w.fails--; w.fails >= 0 {
		return nil, errors.New("refused")
	}
	return &engine.HTTPResponse{Status: 418, Header: []engine.HTTPHeader{{Name: "X", Value: "y"}}, Body: w.body}, nil
}

func TestInvokeRequest(t *testing.T) {
	const vars = `"variables": [{"key": "q", "ref": "sys.query"}, {"key": "s", "ref": "", "value": "{{secret:KEY}} ` +
		`&"}, {"key": "l", "value": ["a", 1]}]`
	const a1 = `"variables": [{"key": "a", "value": 1}]`
	for _, c := range []struct {
		name, params string
		want         engine.HTTPRequest
	}{
		{"get sends a query", `{"url": "host/{sys.query}?x=1#top", ` + vars + `}`, engine.HTTPRequest{
			Method: "GET",
			URL:    "http://host/a%20%C3%BC?x=1&q=a+%C3%BC&s={{secret:KEY:M}}+%26&l=a&l=1#top",
		}},
		{"post sends JSON", `{"url": "https://host", "method": "post", ` + vars + `}`, engine.HTTPRequest{
			Method: "POST", URL: "https://host",
			Header: []engine.HTTPHeader{{Name: "Content-Type", Value: "application/json"}},
			Body:   `{"q":"a ü","s":"{{secret:KEY:M}} &","l":["a",1]}`,
		}},
		{
			"headers as JSON text may contain references",
			`{"url": "https://{{secret:HOST}}/x", "method": "post", "headers": "{\"content-type\": \"text/x\", \"A\": \"{sys.query} {{secret:KEY}}\"}", "proxy": " http://p "}`,
			engine.HTTPRequest{
				Method: "POST", URL: "https://{{secret:HOST:M}}/x", Body: "{}", Proxy: "http://p",
				Header: []engine.HTTPHeader{{Name: "content-type", Value: "text/x"}, {Name: "A", Value: "a ü {{secret:KEY:M}}"}},
			},
		},
		{
			"headers as an object may contain references",
			`{"url": "h", "headers": {"A": "{sys.query} {{secret:KEY}}", "B": 1, "C": "{{secret:X}}"}}`,
			engine.HTTPRequest{Method: "GET", URL: "http://h", Header: []engine.HTTPHeader{
				{Name: "A", Value: "a ü {{secret:KEY:M}}"}, {Name: "B", Value: "1"}, {Name: "C", Value: "{{secret:X:M}}"},
			}},
		},
		{"delete sends a query", `{"url": "h", "method": "delete", ` + vars + `}`, engine.HTTPRequest{
			Method: "DELETE", URL: "http://h?q=a+%C3%BC&s={{secret:KEY:M}}+%26&l=a&l=1",
		}},
		{"head sends a query", `{"url": "h", "method": "HEAD", ` + a1 + `}`, engine.HTTPRequest{
			Method: "HEAD", URL: "http://h?a=1",
		}},
		{"patch sends JSON", `{"url": "h", "method": "patch", ` + a1 + `}`, engine.HTTPRequest{
			Method: "PATCH", URL: "http://h", Body: `{"a":1}`,
			Header: []engine.HTTPHeader{{Name: "Content-Type", Value: "application/json"}},
		}},
		{
			"texts of JSON are sent as values",
			`{"url": "h", "method": "post", "variables": [{"key": "o", "value": "{\"a\": [1, \"{sys.query}\"]}"}, ` +
				`{"key": "n", "value": "12"}, {"key": "t", "value": "1 a"}, {"key": "e", "ref": "begin@none"}]}`,
			engine.HTTPRequest{
				Method: "POST", URL: "http://h", Body: `{"o":{"a":[1,"a ü"]},"n":12,"t":"1 a","e":""}`,
				Header: []engine.HTTPHeader{{Name: "Content-Type", Value: "application/json"}},
			},
		},
		{
			"forms keep texts of JSON",
			`{"url": "h", "method": "post", "datatype": "formdata", "variables": [{"key": "o", "value": "[1]"}]}`,
			engine.HTTPRequest{
				Method: "POST", URL: "http://h", Body: `o=%5B1%5D`,
				Header: []engine.HTTPHeader{{Name: "Content-Type", Value: engine.FormType}},
			},
		},
		{
			"raw body",
			`{"url": "h", "method": "put", "datatype": "raw", "body": "<q>{sys.query} {{secret:KEY}}</q>", ` +
				`"content_type": "text/xml", "variables": [{"key": "a", "value": 1}]}`,
			engine.HTTPRequest{
				Method: "PUT", URL: "http://h?a=1", Body: `<q>a ü {{secret:KEY:M}}</q>`,
				Header: []engine.HTTPHeader{{Name: "Content-Type", Value: "text/xml"}},
			},
		},
		{"raw without a body", `{"url": "h", "method": "delete", "datatype": "raw"}`, engine.HTTPRequest{
			Method: "DELETE", URL: "http://h",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &wire{body: "b"}
			s := run(t, node(t, "Invoke", c.params, ""), nil, "a ü", engine.Null, engine.Ports{HTTP: w})
			require.NoError(t, s.err)
			got := w.asked[0]
			require.Equal(t, strings.Contains(c.params, "{{secret:"), got.SecretMark != "")
			plain := func(text *string) {
				if got.SecretMark != "" {
					*text = strings.ReplaceAll(*text, got.SecretMark, "M")
				}
			}
			plain(&got.URL)
			plain(&got.Body)
			for i := range got.Header {
				plain(&got.Header[i].Value)
			}
			plain(&got.SecretMark)
			c.want.Timeout = time.Minute
			if got.SecretMark != "" {
				c.want.SecretMark = "M"
			}
			require.Equal(t, c.want, got)
			require.Equal(t, `{"result":"b","status_code":418,"headers":{"X":"y"}}`,
				s.outs.Without("_created_time").Without("_elapsed_time").JSON())
		})
	}
}

func TestInvokeErrors(t *testing.T) {
	w := &wire{fails: 2}
	s := run(t, node(t, "Invoke", `{"url": "h", "max_retries": 2}`, ""), nil, "q", engine.Null, engine.Ports{HTTP: w})
	require.NoError(t, s.err)
	require.Len(t, w.asked, 3)
	s = run(t, node(t, "Invoke", `{"url": "h"}`, ""), nil, "q", engine.Null, engine.Ports{HTTP: &wire{fails: 1}})
	require.ErrorContains(t, s.err, "refused")
	s = run(t, node(t, "Invoke", `{"url": "h", "headers": "x"}`, ""), nil, "q", engine.Null, engine.Ports{HTTP: &wire{}})
	require.ErrorContains(t, s.err, "headers: invalid JSON")
	s = run(t, node(t, "Invoke", `{"url": "h", "headers": {"A": "{nope@x}"}}`, ""), nil, "q", engine.Null, engine.Ports{HTTP: &wire{}})
	require.ErrorIs(t, s.err, engine.ErrRef)
	require.ErrorContains(t, s.err, "header A")
	s = run(t, node(t, "Invoke", `{"url": "h/{nope@x}"}`, ""), nil, "q", engine.Null, engine.Ports{HTTP: &wire{}})
	require.ErrorIs(t, s.err, engine.ErrRef)
	s = run(t, node(t, "Invoke", `{"url": "h"}`, ""), nil, "q", engine.Null, engine.Ports{})
	require.ErrorIs(t, s.err, engine.ErrNoPort)
	for _, params := range []string{
		`{"url": ""}`, `{"url": "h", "method": "trace"}`, `{"url": "h", "timeout": 0}`,
		`{"url": "h", "datatype": "xml"}`,
	} {
		_, err := loadNode("Invoke", params, "")
		require.Error(t, err, params)
	}
}

// A model passes the variables that the canvas leaves open, and no others.
func TestInvokeIsATool(t *testing.T) {
	w := &wire{body: "sunny"}
	m := say(`[{"name": "invoke_0", "arguments": {"city": "Oslo", "units": "F"}}]`,
		`[{"name": "complete_task", "arguments": {}}]`, "It is sunny.")
	s := run(t, node(t, "Agent", `{"tool_mode": "prompt", "tools": [{"component_name": "Invoke", "name": "Weather", `+
		`"params": {"url": "h", "description": "Weather of a place", "variables": [{"key": "city"}, `+
		`{"key": "units", "value": "C"}, {"key": "q", "ref": "sys.query"}]}}]}`, ""),
		nil, "hm", engine.Null, engine.Ports{Model: m, HTTP: w})
	require.NoError(t, s.err)
	require.Equal(t, "http://h?city=Oslo&units=C&q=hm", w.asked[0].URL)
	require.Equal(t, "Weather of a place", m.asked[0].Tools[0].Description)
	require.Equal(t, `{"type":"object","properties":{"city":{"description":"argument city of the request"}},`+
		`"required":["city"]}`, m.asked[0].Tools[0].Parameters.JSON())
	require.Contains(t, m.asked[1].Messages[len(m.asked[1].Messages)-1].Content, "sunny")
}

// A component that models cannot call is a problem of the canvas, not only an observation.
func TestComponentsThatAreNoToolsAreProblems(t *testing.T) {
	c := node(t, "Agent", `{"tools": [{"component_name": "Switch", "name": "S", "params": {"conditions": [{}]}}]}`, "")
	require.Contains(t, c.Validate(), engine.Diagnostic{
		Severity: engine.SeverityError, Code: engine.CodeBadParam, Node: "X", Name: "Ex", Param: "tools",
		Message: "tool S: Switch cannot be used as a tool",
	})
}
