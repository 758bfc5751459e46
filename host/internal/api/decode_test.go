package api_test

import (
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	v2 "github.com/easel-canvas/easel/host/internal/api/v2"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// membersOf are the names that handlers read from bodies, and those of our own API's schemas.
func membersOf(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	faces, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	names := map[string]bool{}
	read := regexp.MustCompile(`(?:\b|\.)(?:[Tt]ext|Texts|Flag|Object|List|Get|Lookup)\("(\w+)"|json:"(\w+)`)
	for _, file := range append(files, faces...) {
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

// streams reports whether a route can answer with the events of a run.
func streams(r api.Route) bool {
	last := r.Path[strings.LastIndex(r.Path, "/")+1:]
	return strings.HasPrefix(r.Path, v2.Prefix) && (last == "events" || last == "rerun" || last == "resume" ||
		last == "runs" && r.Method == "POST")
}

// No response of any route names a type or a function of Go, for any error of the body, the
// query or the path.
func TestErrorsNameNoGoTypes(t *testing.T) {
	s := apitest.New(t)
	b := s.FurnishAll()
	members := membersOf(t)
	ask := func(r api.Route, method, path, body string) {
		req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer one")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Last-Event-ID", "x-y")
		w := httptest.NewRecorder()
		s.API.Handler().ServeHTTP(w, req)
		if w.Code < 400 && !strings.Contains(w.Body.String(), `"code":10`) || !strings.Contains(w.Header().Get("Content-Type"), "json") {
			return
		}
		require.NotRegexp(t, api.GoName, w.Body.String(), "%s %s %s", method, path, body)
	}
	apitest.EachRoute(s, func(r api.Route, method string) {
		if streams(r) || strings.Contains(r.Path, "logout") || strings.Contains(r.Path, "logs") || r.Method == "DELETE" {
			return
		}
		path := b.Fill(r.Path)
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
				if strings.HasPrefix(r.Path, v2.Prefix) {
					ask(r, method, path, `{"`+name+`":`+value+`}`)
				}
			}
			ask(r, method, path, all.Value().JSON())
		}
	})
}

func TestDecodeProblems(t *testing.T) {
	s := apitest.New(t)
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
		v := s.As("one", c.method, c.path, c.body, 422)
		require.Equal(t, c.want, v.Get("error").Get("message").Str(), c.body)
	}
}
