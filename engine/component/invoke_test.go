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
			"headers as JSON text are used unchanged",
			`{"url": "https://{{secret:HOST}}/x", "method": "post", "headers": "{\"content-type\": \"text/x\", \"A\": \"{sys.query} {{secret:KEY}}\"}", "proxy": " http://p "}`,
			engine.HTTPRequest{
				Method: "POST", URL: "https://{{secret:HOST:M}}/x", Body: "{}", Proxy: "http://p",
				Header: []engine.HTTPHeader{{Name: "content-type", Value: "text/x"}, {Name: "A", Value: "{sys.query} {{secret:KEY:M}}"}},
			},
		},
		{
			"headers as an object may contain references",
			`{"url": "h", "headers": {"A": "{sys.query} {{secret:KEY}}", "B": 1, "C": "{{secret:X}}"}}`,
			engine.HTTPRequest{Method: "GET", URL: "http://h", Header: []engine.HTTPHeader{
				{Name: "A", Value: "a ü {{secret:KEY:M}}"}, {Name: "B", Value: "1"}, {Name: "C", Value: "{{secret:X:M}}"},
			}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &wire{body: "b"}
			s := run(t, node(t, "Invoke", c.params, ""), nil, "a ü", engine.Null, engine.Ports{HTTP: w})
			require.NoError(t, s.err)
			got := w.asked[0]
			require.NotEmpty(t, got.SecretMark)
			plain := func(text *string) { *text = strings.ReplaceAll(*text, got.SecretMark, "M") }
			plain(&got.URL)
			plain(&got.Body)
			for i := range got.Header {
				plain(&got.Header[i].Value)
			}
			plain(&got.SecretMark)
			c.want.Timeout, c.want.SecretMark = time.Minute, "M"
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
		`{"url": ""}`, `{"url": "h", "method": "delete"}`, `{"url": "h", "timeout": 0}`,
		`{"url": "h", "datatype": "xml"}`,
	} {
		_, err := loadNode("Invoke", params, "")
		require.Error(t, err, params)
	}
}
