package faces_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// memberName finds names of members and parameters in the sources of a dialect.
var memberName = regexp.MustCompile(`"([a-z][a-z0-9_]{1,40})"`)

// memberNames returns the names in the sources below a folder.
func memberNames(t *testing.T, folder string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range memberName.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
		return err
	}))
	slices.Sort(names)
	return slices.Compact(names)
}

// pythonWord finds what only a program in Python writes: exceptions, names of its types, and texts
// of its validation library.
var pythonWord = regexp.MustCompile(
	`\b[A-Z][A-Za-z]*(?:Error|Exception)\(|pydantic|Traceback|NoneType|<class|'(?:str|int|float|list|dict|bool)'` +
		`|Input should be|Extra inputs are|Field: <|Value error,|has no attribute|not iterable|[A-Z][A-Za-z]+Req\b`)

// originals are the texts with words of Python that the original has, by the routes that have them.
// Elsewhere, and in other words, an error is ours.
var originals = []struct{ route, text *regexp.Regexp }{
	{ // requests that its validation library checks
		regexp.MustCompile(`/api/v1/datasets(/search|/\{dataset\}(/search|/metadata/config)?)?$` +
			`|/documents(/\{document\})?$|/kb/create$`),
		regexp.MustCompile(`^Field: <`),
	},
	{ // exceptions of routes of knowledge, which it returns as it prints them
		regexp.MustCompile(`/(datasets|documents|retrieval|kb|document|chunk|dify)\b`),
		regexp.MustCompile(`^(AttributeError\("'(str|int|float|list|bool|NoneType)' object has no attribute '` +
			`(get|encode)'"\)` +
			`|TypeError\(('JSON payload must be an object.'|'sequence item |"int\(\) argument must` +
			`|"unsupported operand type).*\)` +
			`|ValueError\(("invalid literal for int\(\)|'page_size must be|"could not convert string to float).*\)` +
			`|LookupError\(("Can't find the (document|dataset) with ID |'Model\().*\))$`),
	},
}

func isOriginal(path, message string) bool {
	for _, o := range originals {
		if o.route.MatchString(path) && o.text.MatchString(message) {
			return true
		}
	}
	return false
}

// Errors have words of Python only where the original has them. Each route gets bodies of every
// kind, and members and parameters of every type.
func TestErrorsHaveNoWordsOfPython(t *testing.T) {
	s := apitest.New(t)
	names := memberNames(t, "../ragflow")
	require.Greater(t, len(names), 300)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	values := []string{
		"null", "true", "1", "-1", "1.5", "1e400", `"x"`, `""`, "[]", "[1]", `["x"]`, "[null]", `[{"a":1}]`, "{}",
		`{"a":[1]}`,
	}
	texts := []string{"", "x", "-1", "1.5", "None", "%5B1%5D", "99999999999999999999", "%00"}
	bodies := append([]string{"{", "[", `{"a":}`, "NaN", "\xff\xfe"}, values...)
	pick := func(of []string) string { return of[rng.IntN(len(of))] }
	answers, all := 0, s.FurnishAll()
	apitest.EachRoute(s, func(route api.Route, method string) {
		if route.Events || strings.Contains(route.Path, "logout") || strings.HasPrefix(route.Path, "/api/v2") {
			return
		}
		b := all
		if method != http.MethodGet { // an earlier route may have deleted something
			b = s.Furnish()
			s.FurnishDataset(&b)
		}
		send := func(query, body string) {
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
			defer stop()
			r := httptest.NewRequestWithContext(ctx, method, b.Fill(route.Path), strings.NewReader(body))
			r.URL.RawQuery = query
			r.Header.Set("Authorization", "Bearer one")
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.API.Handler().ServeHTTP(w, r)
			if !strings.HasPrefix(route.Path, "/login") { // which also refuses passwords
				require.NotEqual(t, http.StatusUnauthorized, w.Code, "%s %s", method, route.Path)
			}
			require.NoError(t, ctx.Err(), "%s %s?%s %.300q", method, route.Path, query, body)
			answers++
			message := w.Body.String()
			if v, err := engine.ParseJSON(w.Body.Bytes()); err == nil && v.Get("message").Str() != "" {
				message = v.Get("message").Str()
			}
			if pythonWord.MatchString(message) && !isOriginal(route.Path, message) {
				t.Errorf("%s %s?%s %.300q: %s", method, route.Path, query, body, message)
			}
		}
		for _, body := range bodies {
			if method != http.MethodGet {
				send("", body)
			}
		}
		for range 3 {
			send(pick(names)+"="+pick(texts), "")
			if method != http.MethodGet {
				send("", fmt.Sprintf("{%q:%s}", pick(names), pick(values)))
				send("", fmt.Sprintf("%s,%q:%s}", strings.TrimSuffix(b.Body(), "}"), pick(names), pick(values)))
			}
		}
	})
	require.Greater(t, answers, 3000)
}
