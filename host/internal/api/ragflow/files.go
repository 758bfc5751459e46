package ragflow

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// files stores uploads of clients.
type files struct{ *face }

func (f files) routes() []api.Route {
	up := func(path string) api.Route {
		return api.Route{
			Method: "POST", Path: path, Body: api.BodyUpload, Need: api.NeedBeta, Scope: app.ScopeRun, Handler: f.upload,
		}
	}
	down := func(path string) api.Route {
		return api.Route{
			Method: "GET", Path: path, Body: api.BodyNone, Need: api.NeedBeta, Scope: app.ScopeRead, Handler: f.download,
		}
	}
	return []api.Route{
		up("/v1/canvas/upload/{id}"),
		up("/api/v1/agents/{id}/upload"),
		{Method: "POST", Path: "/v1/document/upload_info", Body: api.BodyUpload, Scope: app.ScopeRun, Handler: f.store},
		down("/v1/canvas/download"),
		down("/api/v1/agents/download"),
		down("/api/v1/agents/attachments/{id}/download"),
		down("/api/v1/agents/attachments/{id}/preview"),
	}
}

// maxFiles bounds the files of one upload.
const maxFiles = 50

// upload stores files for a canvas.
func (f files) upload(ctx context.Context, r *api.Request) (api.Response, error) {
	if _, err := f.canvas(ctx, r, r.Params["id"], api.Failed(api.KindNotFound, api.NoCanvas)); err != nil {
		return nil, err
	}
	return f.store(ctx, r)
}

// store stores files of a form, or a page at an address.
func (f files) store(ctx context.Context, r *api.Request) (api.Response, error) {
	if address := r.Query.Get("url"); address != "" {
		if r.Who.Embeds {
			return nil, api.Forbidden("An embedding page uploads files; it cannot make this host fetch a url.")
		}
		v, err := f.Services.Files.PutPage(ctx, r.Who.Files(""), address)
		return ok(v, uploadFailure(err))
	}
	if err := r.CheckBody(r.MaxBody()); err != nil {
		return nil, err
	}
	kind, params, _ := mime.ParseMediaType(r.HTTP.Header.Get("Content-Type"))
	if kind != "multipart/form-data" || params["boundary"] == "" {
		return nil, api.Refused(api.KindBadArgument, "No file part!")
	}
	r.LimitBodyTime()
	defer r.EndBodyTime()
	form := r.Multipart(params["boundary"], r.MaxBody())
	stored, err := f.storeForm(ctx, r.Who.Files(r.Params["id"]), form)
	if err != nil {
		form.Discard()
		return nil, err
	}
	switch len(stored) {
	case 0:
		return nil, api.Refused(api.KindBadArgument, "No file part!")
	case 1:
		return envelope.OK(stored[0]), nil
	}
	return envelope.OK(engine.List(stored...)), nil
}

// storeForm stores the files of a form.
func (f files) storeForm(
	ctx context.Context, p app.FileParty, form *api.FormReader,
) (stored []engine.Value, err error) {
	for {
		part, err := form.Next()
		if errors.Is(err, io.EOF) {
			return stored, nil
		}
		if err != nil {
			return nil, formFailure(err)
		}
		if part.FileName() == "" {
			continue
		}
		if len(stored) == maxFiles {
			return nil, api.Refused(api.KindBadArgument, "More than %d files in one request.", maxFiles)
		}
		v, err := f.Services.Files.Put(ctx, p, part.FileName(), part)
		if err != nil {
			return nil, uploadFailure(err)
		}
		stored = append(stored, v)
	}
}

func uploadFailure(err error) error {
	var large *http.MaxBytesError
	if errors.Is(err, app.ErrFileTooLarge) || errors.As(err, &large) {
		f := api.TooLarge("The file is too large.")
		f.HasData = true
		return f
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return api.Refused(api.KindBadArgument, "The form ends in the middle.")
	}
	return err
}

// formFailure maps an error that ends the reading of a form.
func formFailure(err error) error {
	var f *api.Failure
	if known := uploadFailure(err); errors.As(known, &f) { // also one of the form reader
		return known
	}
	return api.Refused(api.KindBadArgument, "The form cannot be read: %s", err)
}

// download sends a file.
func (f files) download(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["id"]
	if id == "" {
		id = r.Query.Get("id")
	}
	file, v, err := f.Services.Files.Open(ctx, r.Who.Files(""), id)
	if errors.Is(err, app.ErrNoFile) {
		return nil, api.Failed(api.KindNotFound, "File not found.")
	}
	if err != nil {
		return nil, err
	}
	size, _ := v.Get("size").Int() // written by the host, so always a number
	return api.File{
		Name: v.Get("name").Text(), Type: v.Get("mime_type").Text(), Size: size, Content: file,
	}, nil
}
