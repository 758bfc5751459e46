// Package browse runs Browser nodes: a language model reads web pages and answers a task.
//
// The model names one action after the other: open a page, submit a form, store a file, take a
// screenshot. Forms send files that the canvas names. Cookies are kept for the call, or in a
// [Session] for several. Pages are fetched and read as text; where a Chromium is configured it
// renders them, in a process that ends with the call. All requests, including those of pages, are
// sent by a [web.Client], which refuses private addresses on the dialled address; time, bytes and
// memory are bounded.
package browse

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/egress/web"
)

// Errors of a call. Those of single pages are results that the model sees.
var (
	// ErrTooLarge means that a page, a file or everything together has too many bytes.
	ErrTooLarge = errors.New("too large")
	// ErrMemory means that Chromium took more memory than a call may have.
	ErrMemory = errors.New("browser used too much memory")
	// ErrTime means that a page or the call took too long.
	ErrTime = errors.New("browser took too long")
	// ErrNoBrowser means that no Chromium is configured: start the host with --browser PATH.
	ErrNoBrowser = errors.New("no browser is configured (--browser)")
)

// Bounds of a call, in bytes unless noted.
const (
	longestCall   = 10 * time.Minute
	longestPage   = 30 * time.Second
	largestPage   = 10 << 20
	largestFile   = 25 << 20
	mostFiles     = 20        // stored by one call, or given to it
	mostUploads   = 64 << 20  // of all files that forms may send
	mostTraffic   = 128 << 20 // of a Chromium
	mostMemory    = 1 << 30   // of a Chromium with all its processes
	longestText   = 30_000    // characters of a page that the model sees
	mostLinks     = 100       // of a page
	mostRedirects = 5
)

// Files stores downloads and screenshots, and opens the files that forms send.
type Files interface {
	// Open finds a file by its descriptor.
	Open(ctx context.Context, file engine.Value) (document.Source, error)
	// Save stores a file and returns {doc_id, format, file_name}.
	Save(ctx context.Context, name, format string, data []byte) (engine.Value, error)
}

// Network connects to servers, and refuses addresses that are not allowed when it dials them; a
// [web.Client] does.
type Network interface {
	Dial(ctx context.Context, network, address string) (net.Conn, error)
	Transport() *http.Transport // dials with Dial
}

var _ Network = (*web.Client)(nil)

// Browser runs nodes.
type Browser struct {
	Network  Network
	Model    engine.Model
	Files    Files
	Chromium string   // path of the program; "" reads pages without one
	Session  *Session // cookies of the run, for nodes with persist_session; nil keeps none
}

// Call runs a node. Its outputs are content, the answer, and downloaded_files, a list of
// {file_id, name, size, parent_id}.
func (b *Browser) Call(ctx context.Context, params, arguments engine.Value, key string) (engine.Value, error) {
	task := arguments.Get("prompts").Text()
	if b.Model == nil {
		return engine.Null, fmt.Errorf("browser: %w: it needs a model", engine.ErrNoPort)
	}
	ctx, stop := context.WithTimeoutCause(ctx, longestCall, ErrTime)
	defer stop()
	session := b.Session
	if session == nil || !params.Get("persist_session").Truthy() {
		session = new(Session)
	}
	defer session.begin()()
	uploads, err := b.uploads(ctx, arguments.Get("upload_sources"))
	if err != nil {
		return engine.Null, err
	}
	opener, err := b.open(ctx, session, uploads)
	if err != nil {
		return engine.Null, err
	}
	t := &errand{
		browser: b, opener: opener, uploads: uploads, task: task, llm: params.Get("llm_id").Str(), key: key,
	}
	content, err := t.run(ctx, steps(params))
	if err = errors.Join(err, opener.Close()); err != nil {
		return engine.Null, err
	}
	return engine.Object("content", content, "downloaded_files", engine.List(t.files...)), nil
}

// steps returns the number of actions the model may take.
func steps(params engine.Value) int {
	if n, ok := params.Get("max_steps").Int(); ok && n > 0 && n < 1000 {
		return int(n)
	}
	return 30
}

// opener reads pages.
type opener interface {
	// Open loads a page.
	Open(ctx context.Context, address string) (*Page, error)
	// Submit submits a form of the page opened last, with values by field, and loads the resulting
	// page.
	Submit(ctx context.Context, form *Form, values engine.Value) (*Page, error)
	// Cookies are those that a request to an address carries.
	Cookies(ctx context.Context, address string) (http.CookieJar, error)
	// Screenshot is a PNG picture of the page opened last.
	Screenshot(ctx context.Context) ([]byte, error)
	// Err returns the reason why no further page can be opened; nil while one can.
	Err() error
	// Close ends started processes.
	Close() error
}

func (b *Browser) open(ctx context.Context, session *Session, uploads uploads) (opener, error) {
	if b.Chromium == "" {
		return &fetcher{b.Network, session.jar(), uploads}, nil
	}
	return startChromium(ctx, b.Chromium, b.Network, session, uploads)
}
