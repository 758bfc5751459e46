package app

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/upload"
)

// FileParty is on whose behalf files are stored and read.
type FileParty = upload.Party

// FileByWebhook marks the files of web requests.
const FileByWebhook = upload.ByWebhook

// Files stores the uploads of tenants.
type Files struct {
	box   *upload.Box
	fetch engine.HTTP
}

// fetchTime bounds the fetching of a page.
const fetchTime = 30 * time.Second

// MaxSize returns the limit of a file, in bytes.
func (f *Files) MaxSize() int64 { return f.box.Most }

// Put stores a file and returns its descriptor. Errors: [ErrFileTooLarge], those of r.
func (f *Files) Put(ctx context.Context, p upload.Party, name string, r io.Reader) (engine.Value, error) {
	return f.box.Put(ctx, p, name, r)
}

// Open reads a file that a party may read and returns its descriptor; the caller closes it. Errors:
// [ErrNoFile].
func (f *Files) Open(ctx context.Context, p upload.Party, id string) (io.ReadCloser, engine.Value, error) {
	return f.box.Open(ctx, p, id)
}

// Text returns the text of the file that a descriptor names.
func (f *Files) Text(ctx context.Context, p upload.Party, file engine.Value) (string, error) {
	return f.box.Of(p).Read(ctx, file)
}

// PutPage stores what an address returns. Private addresses are refused by the port that fetches.
func (f *Files) PutPage(ctx context.Context, p upload.Party, address string) (engine.Value, error) {
	name, body, err := f.Page(ctx, address)
	if err != nil {
		return engine.Null, err
	}
	return f.Put(ctx, p, name, strings.NewReader(body))
}

// Page returns what an address returns, with a name for it. Errors: those of [Error].
func (f *Files) Page(ctx context.Context, address string) (name, body string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", "", BadArgument("The url is not valid.")
	}
	if f.fetch == nil {
		return "", "", BadArgument("Pages cannot be fetched here.")
	}
	fetching, done := context.WithTimeout(ctx, fetchTime)
	defer done()
	res, err := f.fetch.Do(fetching, &engine.HTTPRequest{Method: "GET", URL: address, Timeout: fetchTime})
	if err != nil {
		return "", "", BadArgument("The page cannot be fetched: %s", err)
	}
	if res.Status >= http.StatusBadRequest {
		return "", "", BadArgument("The page cannot be fetched: its server returns status %d.", res.Status)
	}
	name = path.Base(u.Path)
	if path.Ext(name) == "" {
		name = u.Hostname() + ".html"
	}
	return name, res.Body, nil
}

// OwnFiles returns the upload descriptors of a list, as files of a tenant, and drops what is none.
// Whether the run may read a file is checked when it does.
func OwnFiles(tenant string, files engine.Value) engine.Value {
	var out []engine.Value
	for _, f := range files.Elements() {
		if f.Kind() == engine.KindObject && f.Get("id").Kind() == engine.KindString {
			out = append(out, f.With("created_by", engine.String(tenant)))
		}
	}
	if len(out) == 0 {
		return engine.Null
	}
	return engine.List(out...)
}
