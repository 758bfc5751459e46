package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// goName matches what only people who write Go know.
var goName = regexp.MustCompile(`Go (?:struct|value)|\bstrconv\b|\bjson: |UnmarshalJSON|parsing time|\bof type \S*(?:int|float|string|struct|map|\[)|` +
	`\b(?:url|net|http|json|time|os|io|errors|engine|store|api|runs|runlog|broker|plugin)\.[A-Z]\w+|\bu?int(?:8|16|32|64)\b|float64|map\[string\]|interface ?\{|\bv2[A-Z]\w+`)

// membersOf are the names that handlers read from bodies, and those of our own API's schemas.
func membersOf(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	names := map[string]bool{}
	read := regexp.MustCompile(`\.(?:text|texts|flag|object|list|kind|Get|Lookup)\("(\w+)"|json:"(\w+)`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range read.FindAllStringSubmatch(string(text), -1) {
			names[m[1]+m[2]] = true
		}
	}
	require.Greater(t, len(names), 100)
	return slices.Sorted(maps.Keys(names))
}

// wrongValues are one of each kind.
var wrongValues = []string{`"x"`, `1.5`, `-1`, `99999999999999999999`, `true`, `["x"]`, `[1]`, `{"x":[1]}`}

// No answer of any route names a type or a function of Go, whatever is wrong with the body, the
// query or the path.
func TestErrorsNameNoGoTypes(t *testing.T) {
	s := newSite(t)
	b := s.furnishAll()
	members := membersOf(t)
	ask := func(r route, method, path, body string) {
		req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer one")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Last-Event-ID", "x-y")
		w := httptest.NewRecorder()
		s.api.Handler().ServeHTTP(w, req)
		if w.Code < 400 && !strings.Contains(w.Body.String(), `"code":10`) || !strings.Contains(w.Header().Get("Content-Type"), "json") {
			return
		}
		require.NotRegexp(t, goName, w.Body.String(), "%s %s %s", method, path, body)
	}
	eachRoute(func(r route, method string) {
		if r.doc != nil && r.doc.stream || strings.Contains(r.path, "logout") || strings.Contains(r.path, "logs") || r.method == "DELETE" {
			return
		}
		path := b.fill(r.path)
		if method == "GET" {
			for _, value := range []string{"x", "-1", "1.5", "99999999999999999999", "%00", "[]"} {
				query := ""
				for _, name := range []string{
					"page", "page_size", "orderby", "desc", "from_date", "to_date", "since_ts", "after", "id", "days", "limit", "dsl", "from", "to", "keywords", "status",
				} {
					query += "&" + name + "=" + value
					ask(r, method, path+"?"+name+"="+value, "")
				}
				ask(r, method, path+"?"+query[1:], "")
			}
			return
		}
		for _, body := range []string{`x`, `[]`, `1`, `{"a":`, `{"a":1}`, `"x"`} {
			ask(r, method, path, body)
		}
		for _, value := range wrongValues {
			all := engine.NewObject(len(members))
			v, err := engine.ParseJSONText(value)
			require.NoError(t, err)
			for _, name := range members {
				all.Set(name, v)
				if r.doc != nil {
					ask(r, method, path, `{"`+name+`":`+value+`}`)
				}
			}
			ask(r, method, path, all.Value().JSON())
		}
	})
}

func TestDecodeProblems(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/api/v2/keys", `{"name":1}`, "argument name must be text, not a number"},
		{"POST", "/api/v2/keys", `{"name":"n","rate":"x"}`, "argument rate must be a whole number, not a string"},
		{"POST", "/api/v2/keys", `{"name":"n","rate":1.5}`, "argument rate must be a whole number, not 1.5"},
		{"POST", "/api/v2/keys", `{"name":"n","scopes":"read"}`, "argument scopes must be a list, not a string"},
		{"POST", "/api/v2/keys", `{"name":"n","scopes":[{}]}`, "argument scopes must be text, not an object"},
		{"POST", "/api/v2/keys", `{"name":"n","expires":"tomorrow"}`, `a time must look like 1970-01-01T00:00:00Z, not "tomorrow"`},
		{"POST", "/api/v2/keys", `{"name":"n","expires":"\u0000"}`, "a time must look like 1970-01-01T00:00:00Z"},
		{"POST", "/api/v2/keys", `{"name":"n","expires":5}`, "a time must be text such as 1970-01-01T00:00:00Z"},
		{"POST", "/api/v2/keys", `{"name":"n","nothing":5}`, `unknown field "nothing"`},
	} {
		v := s.as("one", c.method, c.path, c.body, 422)
		require.Equal(t, c.want, v.Get("error").Get("message").Str(), c.body)
	}
}

func TestErrorsWithoutGoNames(t *testing.T) {
	var n struct{ A struct{ B int8 } }
	wrongType := json.Unmarshal([]byte(`{"A":{"B":"x"}}`), &n)
	wrongValue := json.Unmarshal([]byte(`[]`), new(v2KeyInput))
	_, wrongNumber := strconv.ParseInt("x\"y", 10, 64)
	_, wrongRange := strconv.Atoi("99999999999999999999")
	_, wrongTime := time.Parse(time.RFC3339, "x")
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("a: %w", wrongType), "a: argument A.B cannot be of the kind string"},
		{wrongValue, "a value of the kind array is not accepted here"},
		{fmt.Errorf("rate: %w", wrongNumber), `rate: "x\"y" is not accepted here`},
		{wrongRange, `"99999999999999999999" is out of range`},
		{wrongTime, `a time must look like 1970-01-01T00:00:00Z, not "x"`},
		{fmt.Errorf("failed with %T", &url.Error{}), "failed with error"},
		{fmt.Errorf("%T: %w", &net.OpError{}, errors.New("refused")), "error: refused"},
		{errors.New("what json says: a canvas of api.example.com"), "what json says: a canvas of api.example.com"},
	} {
		require.Equal(t, c.want, withoutGoNames(c.err.Error()))
		f, _ := asFailure(c.err)
		require.NotRegexp(t, goName, f.plain().message)
	}
	f := failed(codeException, "%s", wrongNumber)
	require.NotSame(t, f, f.plain(), "a failure may be shared")
	require.Equal(t, http.StatusBadRequest, statusFor(f, f).http)
}
