package browse

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/web"
)

// fetcher reads pages without running their scripts. It uses the cookies of the session.
type fetcher struct {
	network Network
	cookies http.CookieJar
	uploads uploads
}

// Open implements opener.
func (f *fetcher) Open(ctx context.Context, address string) (*Page, error) {
	ctx, stop := context.WithTimeoutCause(ctx, longestPage, ErrTime)
	defer stop()
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return f.page(req)
}

// Submit implements opener.
func (f *fetcher) Submit(ctx context.Context, form *Form, values engine.Value) (*Page, error) {
	ctx, stop := context.WithTimeoutCause(ctx, longestPage, ErrTime)
	defer stop()
	req, err := form.request(ctx, values, f.uploads)
	if err != nil {
		return nil, err
	}
	return f.page(req)
}

// page reads the response of a request.
func (f *fetcher) page(req *http.Request) (*Page, error) {
	ctx := req.Context()
	res, err := send(f.network, f.cookies, req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // an unreadable type is read as HTML
	if kind != "" && !strings.HasPrefix(kind, "text/") && !strings.Contains(kind, "html") &&
		!strings.Contains(kind, "xml") && !strings.Contains(kind, "json") {
		return nil, fmt.Errorf("%s is not a page but a file of type %s; use download", req.URL, kind)
	}
	text, err := charset.NewReader(&limited{res.Body, largestPage}, res.Header.Get("Content-Type"))
	if err != nil {
		return nil, whyEnded(ctx, err)
	}
	page, err := readPage(res.Request.URL, text, kind)
	if err != nil {
		return nil, whyEnded(ctx, err)
	}
	page.Status = res.StatusCode
	return page, nil
}

// Screenshot implements opener.
func (f *fetcher) Screenshot(context.Context) ([]byte, error) { return nil, ErrNoBrowser }

// Cookies implements opener.
func (f *fetcher) Cookies(context.Context, string) (http.CookieJar, error) { return f.cookies, nil }

// Err implements opener.
func (f *fetcher) Err() error { return nil }

// Close implements opener.
func (f *fetcher) Close() error { return nil }

// send sends a request and follows redirects; every address is checked when it is dialled.
func send(network Network, cookies http.CookieJar, req *http.Request) (*http.Response, error) {
	if err := checkAddress(req.URL.String()); err != nil {
		return nil, err
	}
	transport := network.Transport()
	transport.DisableKeepAlives = true
	client := &http.Client{
		Transport: transport, Jar: cookies,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > mostRedirects {
				return fmt.Errorf("%w: more than %d", web.ErrRedirects, mostRedirects)
			}
			return checkAddress(r.URL.String())
		},
	}
	req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; easel)")
	req.Header.Set("Accept", "text/html,application/xhtml+xml,text/plain;q=0.8,*/*;q=0.5")
	res, err := client.Do(req)
	if err != nil {
		return nil, whyEnded(req.Context(), err)
	}
	return res, nil
}

// checkAddress accepts http and https addresses without a user name.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("address %.200q: use an http or https address without user name", address)
	}
	return nil
}

// whyEnded returns the cause of an ended context instead of the error that followed from it.
func whyEnded(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// limited fails when more than n bytes are read.
type limited struct {
	from io.Reader
	n    int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.n -= int64(n); l.n < 0 {
		return 0, fmt.Errorf("%w: more bytes than a call may read", ErrTooLarge)
	}
	return n, err
}

// download reads a file.
func download(ctx context.Context, network Network, cookies http.CookieJar, address string) (
	name string, data []byte, err error,
) {
	ctx, stop := context.WithTimeoutCause(ctx, 2*longestPage, ErrTime)
	defer stop()
	if err := checkAddress(address); err != nil {
		return "", nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", nil, err
	}
	res, err := send(network, cookies, req)
	if err != nil {
		return "", nil, err
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusBadRequest {
		return "", nil, fmt.Errorf("%s answered %s", address, res.Status)
	}
	data, err = io.ReadAll(&limited{res.Body, largestFile})
	return fileName(res), data, whyEndedOrNil(ctx, err)
}

func whyEndedOrNil(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return whyEnded(ctx, err)
}

// fileName returns the name of a download: from the server, or the end of its path.
func fileName(res *http.Response) string {
	name := ""
	if _, params, err := mime.ParseMediaType(res.Header.Get("Content-Disposition")); err == nil {
		name = params["filename"]
	}
	if name == "" {
		name = res.Request.URL.Path
	}
	return cleanName(name)
}

// cleanName returns a name for a file without folders and control characters.
func cleanName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, name)
	if name == "" || name == "." || name == ".." {
		name = "download"
	}
	return name[:min(len(name), 200)]
}
