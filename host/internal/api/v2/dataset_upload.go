package v2

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/dataset"
)

type uploadDocuments struct {
	Who     app.Principal
	Request *api.Request
	Dataset string `path:"dataset"`
	Parse   string `query:"parse" jsonschema:"true queues the documents for parsing"`
}

// fileForm describes a form of files.
var fileForm = &jsonschema.Schema{
	Type: "object", Required: []string{"file"},
	Properties: map[string]*jsonschema.Schema{
		"file": {Type: "array", Items: &jsonschema.Schema{Type: "string", Format: "binary"}},
	},
}

// upload stores the files of a form as they arrive. When one is refused, those before it stay: the
// error says which one it was.
func (d datasets) upload(ctx context.Context, in uploadDocuments) (documentList, error) {
	if in.Parse != "" && in.Parse != "true" && in.Parse != "false" {
		return documentList{}, badQuery("parse must be true or false, not %.40q", in.Parse)
	}
	if _, err := d.Get(ctx, in.Who, in.Dataset); err != nil {
		return documentList{}, err
	}
	r := in.Request
	if err := r.CheckBody(r.MaxBody()); err != nil {
		return documentList{}, err
	}
	kind, params, _ := mime.ParseMediaType(r.HTTP.Header.Get("Content-Type"))
	if kind != "multipart/form-data" || params["boundary"] == "" {
		return documentList{}, badMember("file", "the body must be multipart/form-data with files named file")
	}
	r.LimitBodyTime()
	defer r.EndBodyTime()
	form := r.Multipart(params["boundary"], r.MaxBody())
	stored, err := d.storeForm(ctx, in, form)
	if err != nil {
		form.Discard()
		return documentList{}, uploadFailure(err)
	}
	if len(stored) == 0 {
		return documentList{}, badMember("file", "the form has no file named file")
	}
	return documentViews(stored, len(stored)), nil
}

func (d datasets) storeForm(
	ctx context.Context, in uploadDocuments, form *api.FormReader,
) (stored []dataset.Document, err error) {
	for {
		part, err := form.Next()
		if errors.Is(err, io.EOF) {
			return stored, nil
		}
		if err != nil {
			return nil, err
		}
		if part.FormName() != "file" {
			continue
		}
		v, err := d.storePart(ctx, in, part)
		if err != nil {
			return nil, err
		}
		stored = append(stored, v)
	}
}

// storePart stores a file of the form, and queues it to be parsed when that was asked for.
func (d datasets) storePart(ctx context.Context, in uploadDocuments, part *multipart.Part) (dataset.Document, error) {
	name := strings.TrimSpace(part.FileName())
	if name == "" {
		return dataset.Document{}, badMember("file", "a file of the form has no name")
	}
	v, err := d.Upload(ctx, in.Who, in.Dataset, app.Upload{Name: name, Size: -1, Body: part})
	if err != nil || in.Parse != "true" {
		return v, err
	}
	if err := d.Parse(ctx, in.Who, in.Dataset, v.ID); err != nil {
		return v, err
	}
	return d.Document(ctx, in.Who, in.Dataset, v.ID)
}

// uploadFailure is what is wrong with a form or a file of it.
func uploadFailure(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.Is(err, app.ErrFileTooLarge), errors.As(err, &large):
		return &api.Status{HTTP: http.StatusRequestEntityTooLarge, Code: "body_too_large", Message: err.Error()}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return badMember("file", "the form ends in the middle")
	}
	return err
}
