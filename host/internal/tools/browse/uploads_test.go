package browse

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/web"
)

// post has a form with a field for one file and one for several, and answers with what it got.
func post(t *testing.T) *site {
	return serve(t, map[string]http.HandlerFunc{
		"/": text(`<!doctype html><form method=post action="/post" enctype="multipart/form-data">` +
			`<input name=who><input type=file name=cv value=x><input type=file name=more multiple></form>`),
		"/tea.csv": text("tea,4"),
		"/post": func(w http.ResponseWriter, r *http.Request) {
			if err := r.ParseMultipartForm(1 << 20); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			_, _ = fmt.Fprintf(w, "<!doctype html><p>from %s", r.FormValue("who"))
			for _, field := range []string{"cv", "more"} {
				for _, part := range r.MultipartForm.File[field] {
					if part.Filename == "" {
						continue // a browser's part for a field without a file
					}
					file, err := part.Open()
					if err != nil {
						http.Error(w, err.Error(), http.StatusBadRequest)
						return
					}
					content, err := io.ReadAll(file)
					if err != nil {
						http.Error(w, err.Error(), http.StatusBadRequest)
						return
					}
					_, _ = fmt.Fprintf(w, " %s=%s(%s)", field, part.Filename, content)
				}
			}
		},
	})
}

func TestFormsSendFiles(t *testing.T) {
	pages := post(t)
	testUploads(t, pages, &Browser{Network: &web.Client{AllowPrivate: true}})
}

func TestChromiumSendsFiles(t *testing.T) {
	path := program(t)
	pages := post(t)
	testUploads(t, pages, &Browser{Network: &inner{public: pages.host()}, Chromium: path})
}

func testUploads(t *testing.T, pages *site, b *Browser) {
	send := func(fields string) string {
		return `[{"name": "submit_form", "arguments": {"form": 1, "fields": ` + fields + `}}]`
	}
	model := &script{answers: []string{
		open(pages.URL), send(`{"cv": "b.txt"}`), send(`{"cv": ["a.txt", "tea.csv"]}`),
		send(`{"who": "ada", "cv": "a.txt", "more": ["tea.csv", "a-2.txt"]}`), done,
	}}
	b.Model, b.Files = model, &drawer{map[string][]byte{"a.txt": []byte("one"), "dir/a.txt": []byte("two")}}
	arguments := engine.Object("prompts", "Apply.", "upload_sources",
		engine.List(engine.String("a.txt"), engine.String(pages.URL+"/tea.csv"),
			engine.Object("file_id", "dir/a.txt", "name", "x")))
	_, err := b.Call(t.Context(), engine.Object("max_steps", 9), arguments, "k")
	require.NoError(t, err)
	require.Contains(t, model.requests[0].System, "a.txt, tea.csv, a-2.txt")
	require.Contains(t, model.seen(1), "- cv (file)")
	require.Contains(t, model.seen(2), `field cv: there is no file "b.txt" (one of a.txt, tea.csv, a-2.txt)`)
	require.Contains(t, model.seen(3), "field cv: it takes one file, not 2")
	require.Contains(t, model.seen(4), "from ada cv=a.txt(one) more=tea.csv(tea,4) more=a-2.txt(two)")
}

func TestFormWithoutFilesToSend(t *testing.T) {
	pages := post(t)
	model := &script{answers: []string{
		open(pages.URL), `[{"name": "submit_form", "arguments": {"form": 1, "fields": {"cv": "/etc/passwd"}}}]`,
		`[{"name": "submit_form", "arguments": {"form": 1, "fields": {"who": "bob"}}}]`, "now",
	}}
	_, err := call(t, &Browser{Network: &web.Client{AllowPrivate: true}, Model: model})
	require.NoError(t, err)
	require.Contains(t, model.seen(2), "field cv: the canvas names no files to send (upload_sources)")
	require.Contains(t, model.requests[3].Messages[6].Content, "from bob\n", "a file field is empty without a file")
	require.NotContains(t, model.requests[0].System, "Files that forms can send")
}

// What is to be sent is read before the browser starts, within limits and from allowed addresses.
func TestUploadsThatCannotBeRead(t *testing.T) {
	pages := serve(t, map[string]http.HandlerFunc{"/": text("x")})
	large := make([]byte, largestFile+1)
	many := make([]string, mostFiles+1)
	fits := large[:largestFile]
	stored := map[string][]byte{"large": large, "a": fits, "b": fits, "c": fits}
	for i := range many {
		many[i] = fmt.Sprint("f", i)
		stored[many[i]] = nil
	}
	for source, want := range map[string]string{
		"nothing":               `there is no file "nothing"`,
		"large":                 ErrTooLarge.Error(),
		"a, b, c":               ErrTooLarge.Error(),
		strings.Join(many, ","): "more than 20 files",
		pages.URL:               web.ErrAddress.Error(),
	} {
		b := &Browser{Network: &inner{}, Model: &script{}, Files: &drawer{stored}}
		_, err := b.Call(t.Context(), engine.Null, engine.Object("prompts", "x", "upload_sources", source), "k")
		require.ErrorContains(t, err, "upload_sources: ", source)
		require.ErrorContains(t, err, want, source)
	}
}

func TestSourcesOfUploads(t *testing.T) {
	for given, want := range map[string]string{
		`null`:                                  `[]`,
		`""`:                                    `[]`,
		`"a, b,,a"`:                             `[{"id":"a"},{"id":"b"}]`,
		`"[\"a\", {\"file_id\": \"b\"}]"`:       `[{"id":"a"},{"id":"b"}]`,
		`["https://x.example/a,b", ["c"]]`:      `["https://x.example/a,b",{"id":"c"}]`,
		`{"url": "https://x.example"}`:          `["https://x.example"]`,
		`{"doc_id": "d", "file_name": "x.pdf"}`: `[{"doc_id":"d","file_name":"x.pdf"}]`,
		`{"one": {"id": "e"}, "two": ["f"]}`:    `[{"id":"e"},{"id":"f"}]`,
	} {
		v, err := engine.ParseJSONText(given)
		require.NoError(t, err)
		require.JSONEq(t, want, engine.List(sourcesIn(v)...).JSON(), given)
	}
}
