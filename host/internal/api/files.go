package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/upload"
)

var fileRoutes = []route{
	{method: "POST", path: "/v1/canvas/upload/{id}", body: bodyUpload, need: needBeta, scope: scopeRun, answer: (*API).upload},
	{method: "POST", path: "/api/v1/agents/{id}/upload", body: bodyUpload, need: needBeta, scope: scopeRun, answer: (*API).upload},
	{method: "GET", path: "/v1/canvas/download", body: bodyNone, need: needBeta, scope: scopeRead, answer: (*API).download},
	{method: "GET", path: "/api/v1/agents/download", body: bodyNone, need: needBeta, scope: scopeRead, answer: (*API).download},
	{method: "GET", path: "/api/v1/agents/attachments/{id}/download", body: bodyNone, need: needBeta, scope: scopeRead, answer: (*API).download},
	{method: "GET", path: "/api/v1/agents/attachments/{id}/preview", body: bodyNone, need: needBeta, scope: scopeRead, answer: (*API).download},
}

// mostFiles is how many files one request may upload.
const mostFiles = 50

func (a *API) box() *upload.Box {
	return &upload.Box{Store: a.cfg.Store, Files: a.cfg.Files, Most: a.cfg.MaxUpload, Documents: a.cfg.Documents}
}

// upload stores files of a form, or a page at an address.
func (a *API) upload(c *call) error {
	if _, err := c.canvas(c.params["id"], failed(codeData, noCanvas)); err != nil {
		return err
	}
	if address := c.query.Get("url"); address != "" {
		if c.who.embeds {
			return forbidden("An embedding page uploads files; it cannot make this host fetch a url.")
		}
		return c.uploadPage(address)
	}
	most, _ := bodyUpload.limits(&a.cfg)
	if err := c.checkBody(most); err != nil {
		return err
	}
	kind, params, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" || params["boundary"] == "" {
		return refused(codeArgument, "No file part!")
	}
	c.bodyDeadline(10 * a.cfg.BodyTime)
	defer c.bodyDeadline(0)
	form := c.multipart(params["boundary"], most)
	stored, err := c.storeForm(form)
	if err != nil {
		form.discard()
		return err
	}
	switch len(stored) {
	case 0:
		return refused(codeArgument, "No file part!")
	case 1:
		return c.ok(stored[0])
	}
	return c.ok(engine.List(stored...))
}

// storeForm stores the files of a form.
func (c *call) storeForm(form *formReader) (stored []engine.Value, err error) {
	for {
		part, err := form.next()
		if errors.Is(err, io.EOF) {
			return stored, nil
		}
		if err != nil {
			return nil, formFailure(err)
		}
		if part.FileName() == "" {
			continue
		}
		if len(stored) == mostFiles {
			return nil, refused(codeArgument, "More than %d files in one request.", mostFiles)
		}
		v, err := c.a.box().Put(c.ctx(), c.who.tenant, part.FileName(), part)
		if err != nil {
			return nil, uploadFailure(err)
		}
		stored = append(stored, v)
	}
}

func uploadFailure(err error) error {
	var large *http.MaxBytesError
	if errors.Is(err, upload.ErrTooLarge) || errors.As(err, &large) {
		return &failure{code: codeBad, message: "The file is too large.", hasData: true, status: http.StatusRequestEntityTooLarge}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return refused(codeArgument, "The form ends in the middle.")
	}
	return err
}

// formFailure is what is wrong with a form that cannot be read on.
func formFailure(err error) error {
	var f *failure
	if known := uploadFailure(err); errors.As(known, &f) { // also one of the form reader
		return known
	}
	return refused(codeArgument, "The form cannot be read: %s", err)
}

// uploadPage stores what an address gives. Private addresses are refused by
// the port that fetches.
func (c *call) uploadPage(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return refused(codeArgument, "The url is not valid.")
	}
	if c.a.cfg.Fetch == nil {
		return refused(codeArgument, "Pages cannot be fetched here.")
	}
	ctx, done := context.WithTimeout(c.ctx(), 30*time.Second)
	defer done()
	res, err := c.a.cfg.Fetch.Do(ctx, &engine.HTTPRequest{Method: "GET", URL: address, Timeout: 30 * time.Second})
	if err != nil {
		return refused(codeArgument, "The page cannot be fetched: %s", err)
	}
	name := path.Base(u.Path)
	if path.Ext(name) == "" {
		name = u.Hostname() + ".html"
	}
	v, err := c.a.box().Put(c.ctx(), c.who.tenant, name, strings.NewReader(res.Body))
	if err != nil {
		return uploadFailure(err)
	}
	return c.ok(v)
}

// download sends a file. What a browser could run is sent as an attachment.
func (a *API) download(c *call) error {
	id := c.params["id"]
	if id == "" {
		id = c.query.Get("id")
	}
	r, v, err := a.box().Open(c.ctx(), c.who.tenant, id)
	if errors.Is(err, upload.ErrNotFound) {
		return failed(codeData, "File not found.")
	}
	if err != nil {
		return err
	}
	defer r.Close()
	h := c.w.Header()
	h.Set("Content-Type", v.Get("mime_type").Text())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Content-Length", v.Get("size").Text())
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": v.Get("name").Text()}))
	c.begun = true
	if _, err := io.Copy(c.w, r); err != nil {
		return fmt.Errorf("download of file %q: %w", id, err)
	}
	return nil
}
