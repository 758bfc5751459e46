package browse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/egress/web"
)

// inner is a network in which one server of this machine is public, and all others are private.
type inner struct {
	web.Client
	public string // host:port
}

func (n *inner) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if address != n.public {
		return nil, fmt.Errorf("%w: %s", web.ErrAddress, address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

func (n *inner) Transport() *http.Transport { return &http.Transport{DialContext: n.Dial} }

// script is a model with prepared answers.
type script struct {
	answers  []string
	requests []engine.ModelRequest
}

func (s *script) Generate(_ context.Context, r *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	s.requests = append(s.requests, *r)
	return func(yield func(engine.ModelPiece, error) bool) {
		if len(s.answers) == 0 {
			yield(engine.ModelPiece{}, errors.New("no answer is left"))
			return
		}
		text := s.answers[0]
		s.answers = s.answers[1:]
		yield(engine.ModelPiece{Text: text}, nil)
	}
}

// seen returns the last message that the model got.
func (s *script) seen(request int) string {
	list := s.requests[request].Messages
	return list[len(list)-1].Content
}

type drawer struct{ files map[string][]byte }

func (d *drawer) Open(_ context.Context, file engine.Value) (document.Source, error) {
	data, ok := d.files[file.Get("id").Text()]
	if !ok {
		return document.Source{}, fmt.Errorf("there is no file %q", file.Get("id").Text())
	}
	return document.Source{
		Name: file.Get("id").Text(), Size: int64(len(data)),
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	}, nil
}

func (d *drawer) Save(_ context.Context, name, format string, data []byte) (engine.Value, error) {
	d.files[name] = data
	return engine.Object("doc_id", "id of "+name, "format", format, "file_name", name), nil
}

// site serves pages, and counts the requests to each path.
type site struct {
	*httptest.Server
	mu   sync.Mutex
	hits map[string]int
}

func serve(t *testing.T, pages map[string]http.HandlerFunc) *site {
	s := &site{hits: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.hits[r.URL.Path]++
		s.mu.Unlock()
		if page := pages[r.URL.Path]; page != nil {
			page(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits[path]
}

func (s *site) host() string { return strings.TrimPrefix(s.URL, "http://") }

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, body) }
}

const (
	done     = `[{"name": "complete_task", "arguments": {"answer": "Tea is 4 EUR"}}]`
	teaHouse = `<!doctype html><title> Tea  house </title><nav><a href="/x">menu</a></nav><main><h1>Prices</h1>
		<p>Green tea costs <b>4 EUR</b>, see the <a href="/list.pdf#page=2">list</a>.</p><ul><li>one<li>two</ul>` +
		`<table><tr><th>Kind<td>Price</table><script>document.querySelector("b").textContent = "5 EUR"</script></main>`
)

func open(address string) string {
	return `[{"name": "open_page", "arguments": {"url": "` + address + `"}}]`
}

func call(t *testing.T, b *Browser) (engine.Value, error) {
	t.Helper()
	return b.Call(
		t.Context(), engine.Object("llm_id", "m@M", "max_steps", 3), engine.Object("prompts", "What is tea?"), "k",
	)
}

func TestModelReadsPages(t *testing.T) {
	pages := serve(t, map[string]http.HandlerFunc{
		"/": text(teaHouse), "/list.pdf": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", `attachment; filename="../../prices.pdf"`)
			_, _ = fmt.Fprint(w, "%PDF")
		},
	})
	model := &script{
		answers: []string{
			"<think>[]</think>" + open(pages.URL), `[{"name": "download", "arguments": {"url": 1}}]`, done,
		},
	}
	files := &drawer{map[string][]byte{}}
	out, err := call(t, &Browser{Network: &web.Client{AllowPrivate: true}, Model: model, Files: files})
	require.NoError(t, err)
	require.Equal(t, "Tea is 4 EUR", out.Get("content").Str())
	require.Equal(
		t, `[{"file_id":"id of prices.pdf","name":"prices.pdf","size":4,"parent_id":""}]`,
		out.Get("downloaded_files").JSON(),
	)
	require.Equal(t, "%PDF", string(files.files["prices.pdf"]))

	seen := model.seen(1)
	require.Contains(t, seen, "Title: Tea house\n")
	require.Contains(t, seen, "# Prices")
	require.Contains(t, seen, "Green tea costs 4 EUR, see the list [")
	require.Contains(t, seen, "- one")
	require.Contains(t, seen, pages.URL+"/list.pdf")
	require.NotContains(t, seen, "querySelector")
	require.Equal(t, engine.PurposePlan, model.requests[0].Purpose)
	require.Equal(t, "m@M", model.requests[0].LLM)
	require.Equal(
		t, []string{"k/1", "k/2", "k/3"},
		[]string{model.requests[0].Key, model.requests[1].Key, model.requests[2].Key},
	)
}

func TestStepsAndBadAnswers(t *testing.T) {
	model := &script{
		answers: []string{"I do not know", `[{"name": "dance"}]`, `[{"name": "screenshot"}]`, "as far as I know"},
	}
	out, err := call(t, &Browser{Network: &web.Client{}, Model: model})
	require.NoError(t, err)
	require.Equal(t, "as far as I know", out.Get("content").Str())
	require.Contains(t, model.seen(1), "could not be used")
	require.Contains(t, model.seen(2), `unknown action "dance"`)
	require.Contains(t, model.requests[3].Messages[6].Content, "--browser")
	require.Equal(t, engine.PurposeAnswer, model.requests[3].Purpose)
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	private := serve(t, map[string]http.HandlerFunc{"/": text("secret")})
	public := serve(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, private.URL, http.StatusFound)
	}})
	model := &script{
		answers: []string{
			open(private.URL), open(public.URL), `[{"name": "download", "arguments": {"url": "` + public.URL + `"}}]`,
			done,
		},
	}
	_, err := call(t, &Browser{Network: &inner{public: public.host()}, Model: model})
	require.NoError(t, err)
	for _, i := range []int{2, 4, 6} {
		require.Contains(t, model.requests[3].Messages[i].Content, web.ErrAddress.Error())
	}
	require.Zero(t, private.count("/"))
	for _, address := range []string{"file:///etc/passwd", "ftp://x", "javascript:1", "http://u:p@x", "http://"} {
		model := &script{answers: []string{open(address), done}}
		_, err := call(t, &Browser{Network: &web.Client{}, Model: model})
		require.NoError(t, err)
		require.Contains(t, model.seen(1), "use an http or https address", address)
	}
}

func TestHostilePages(t *testing.T) {
	endless := func(kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte("<p>x "), 1<<18)); err != nil {
					return
				}
			}
		}
	}
	pages := serve(t, map[string]http.HandlerFunc{
		"/endless": endless("text/html"), "/file": endless("application/zip"), "/deep": text(
			strings.Repeat("<div>", 1_000_000),
		),
		"/latin": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
			_, _ = w.Write([]byte("<p>caf\xe9"))
		},
		"/meta": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<meta charset=gbk><p>\xb2\xe8"))
		},
		"/loop": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) },
	})
	for path, want := range map[string]string{
		"/endless": ErrTooLarge.Error(), "/file": "use download", "/deep": "failed: ", "/latin": "café", "/meta": "茶",
		"/loop": web.ErrRedirects.Error(),
	} {
		model := &script{answers: []string{open(pages.URL + path), done}}
		_, err := call(t, &Browser{Network: &web.Client{AllowPrivate: true}, Model: model})
		require.NoError(t, err)
		require.Contains(t, model.seen(1), want, path)
	}
	model := &script{answers: []string{`[{"name": "download", "arguments": {"url": "` + pages.URL + `/file"}}]`, done}}
	_, err := call(
		t, &Browser{Network: &web.Client{AllowPrivate: true}, Model: model, Files: &drawer{map[string][]byte{}}},
	)
	require.NoError(t, err)
	require.Contains(t, model.seen(1), ErrTooLarge.Error())
}

func FuzzPage(f *testing.F) {
	f.Add(teaHouse)
	f.Add(`<a href="http://[::1"><base href="//x">`)
	f.Fuzz(func(t *testing.T, body string) {
		base, err := url.Parse("http://example.org/a")
		require.NoError(t, err)
		page, err := readPage(base, strings.NewReader(body), "text/html")
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(page.Links), mostLinks)
		require.LessOrEqual(t, len([]rune(page.Text)), longestText+40)
	})
}

// program returns a Chromium, if there is one.
func program(t *testing.T) string {
	for _, path := range []string{os.Getenv("EASEL_CHROMIUM"), "/usr/bin/chromium", "/usr/bin/google-chrome"} {
		if _, err := os.Stat(path); path != "" && err == nil {
			return path
		}
	}
	t.Skip("no Chromium is installed")
	return ""
}

// left lists the files and processes of browsers.
func left(t *testing.T, folder string) []string {
	files, err := filepath.Glob(folder + "/easel-browser-*")
	require.NoError(t, err)
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, line := range lines {
		if text, err := os.ReadFile(line); err == nil && bytes.Contains(text, []byte(folder)) {
			files = append(files, string(text))
		}
	}
	return files
}

func TestChromiumRendersPages(t *testing.T) {
	path := program(t)
	folder, err := os.MkdirTemp("", "eb") // the paths of its sockets must be short
	require.NoError(t, err)
	defer os.RemoveAll(folder)
	t.Setenv("TMPDIR", folder)
	pages := serve(
		t, map[string]http.HandlerFunc{"/": text(teaHouse), "/alert": text(`<script>alert(1)</script><p>after`)},
	)
	shot := `[{"name": "screenshot"}]`
	model := &script{answers: []string{open(pages.URL), shot, open(pages.URL + "/alert"), "now"}}
	files := &drawer{map[string][]byte{}}
	out, err := call(t, &Browser{Network: &inner{public: pages.host()}, Model: model, Files: files, Chromium: path})
	require.NoError(t, err)
	require.Contains(t, model.seen(1), "Green tea costs 5 EUR", "scripts of the page have run")
	require.Contains(t, model.requests[3].Messages[6].Content, "after")
	require.True(t, bytes.HasPrefix(files.files["screenshot-1.png"], []byte("\x89PNG")))
	require.Equal(t, 1, out.Get("downloaded_files").Len())
	require.Empty(t, left(t, folder), "processes and files end with the call")
}

func TestChromiumReachesAllowedAddressesOnly(t *testing.T) {
	path := program(t)
	private := serve(t, map[string]http.HandlerFunc{})
	public := serve(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `<p>start<img src="%[1]s/img"><link rel=stylesheet href="%[1]s/css">
				<iframe src="%[1]s/frame"></iframe>
				<iframe src="file:///etc/hostname"></iframe><img src="/redirect"><script src="%[1]s/script"></script>
				<script>
				const tries = [fetch("%[1]s/fetch"), fetch("/redirect"), fetch("/own").then((r) => r.text())];
				new WebSocket("%[2]s/socket"); navigator.sendBeacon("%[1]s/beacon");
				Promise.allSettled(tries).then(
					(all) => document.body.append(" tried " + all.map((one) => one.value ?? one.status)),
				);
				</script>`, private.URL, strings.Replace(private.URL, "http", "ws", 1))
		},
		"/own": text("own"),
		"/redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, private.URL+"/redirected", http.StatusFound)
		},
	})
	model := &script{answers: []string{open(public.URL), open(private.URL), open(public.URL + "/redirect"), "now"}}
	_, err := call(t, &Browser{Network: &inner{public: public.host()}, Model: model, Chromium: path})
	require.NoError(t, err)
	require.Contains(t, model.seen(1), "start")
	require.Contains(t, model.seen(2), web.ErrAddress.Error())
	private.mu.Lock()
	defer private.mu.Unlock()
	require.Empty(t, private.hits, "nothing reaches a private address")
	require.Positive(t, public.count("/own"))
}

func TestChromiumEndsAtItsLimits(t *testing.T) {
	path := program(t)
	pages := serve(t, map[string]http.HandlerFunc{"/flood": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	}, "/": text(`<script>fetch("/flood").then((r) => r.arrayBuffer())</script>flood`)})
	ctx, fail := context.WithCancelCause(t.Context())
	p, err := startProxy(ctx, &web.Client{AllowPrivate: true}, 5<<20, fail)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.close()) })
	through, err := url.Parse("http://" + p.address())
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(through)}}
	res, err := client.Get(pages.URL + "/flood")
	require.NoError(t, err)
	_, _ = bytes.NewBuffer(nil).ReadFrom(res.Body)
	require.NoError(t, res.Body.Close())
	require.ErrorIs(t, context.Cause(ctx), ErrTooLarge)

	// A browser that is killed ends the call.
	opener, err := startChromium(t.Context(), path, &web.Client{AllowPrivate: true}, new(Session), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, opener.Close()) }()
	require.NoError(t, opener.Err())
	require.Greater(t, memoryOf(opener.(*chromium).command.Process.Pid), int64(10<<20))
	opener.(*chromium).fail(ErrMemory)
	opener.(*chromium).kill()
	_, err = opener.Open(t.Context(), pages.URL)
	require.ErrorIs(t, err, ErrMemory)
	require.ErrorIs(t, opener.Err(), ErrMemory)
}
