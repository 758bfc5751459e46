package v2

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

type uploadDocuments struct {
	Who     app.Principal
	Request *api.Request
	Dataset string `path:"dataset"`
	Parse   string `query:"parse" jsonschema:"true queues the documents for parsing"`
	Refuse  string `query:"refuse" jsonschema:"duplicates, unreadable or both: files that are refused"`
}

// fileForm describes a form of files.
var fileForm = &jsonschema.Schema{
	Type: "object", Required: []string{"file"},
	Properties: map[string]*jsonschema.Schema{
		"file": {Type: "array", Items: &jsonschema.Schema{Type: "string", Format: "binary"}},
	},
}

// upload stores the files of a form as they arrive. When one is refused, those before it stay: the
// error names the refused one.
func (d datasets) upload(ctx context.Context, in uploadDocuments) (documentList, error) {
	if in.Parse != "" && in.Parse != "true" && in.Parse != "false" {
		return documentList{}, badQuery("parse must be true or false, not %.40q", in.Parse)
	}
	for word := range strings.FieldsFuncSeq(in.Refuse, func(r rune) bool { return r == ',' }) {
		if word != refuseDuplicates && word != refuseUnreadable {
			return documentList{}, badQuery("refuse must be %s or %s, not %.40q", refuseDuplicates, refuseUnreadable,
				word)
		}
	}
	if _, err := d.Get(ctx, in.Who, in.Dataset); err != nil {
		return documentList{}, err
	}
	form, err := formOf(in.Request)
	if err != nil {
		return documentList{}, err
	}
	defer in.Request.EndBodyTime()
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

// Words of the parameter refuse.
const (
	refuseDuplicates = "duplicates"
	refuseUnreadable = "unreadable"
)

// formOf is the form of a request, whose time is limited until EndBodyTime.
func formOf(r *api.Request) (*api.FormReader, error) {
	if err := r.CheckBody(r.MaxBody()); err != nil {
		return nil, err
	}
	kind, params, _ := mime.ParseMediaType(r.HTTP.Header.Get("Content-Type"))
	if kind != "multipart/form-data" || params["boundary"] == "" {
		return nil, badMember("file", "the body must be multipart/form-data with files named file")
	}
	r.LimitBodyTime()
	return r.Multipart(params["boundary"], r.MaxBody()), nil
}

type replaceDocument struct {
	Who     app.Principal
	Request *api.Request
	Dataset string `path:"dataset"`
	ID      string `path:"document"`
	Parse   string `query:"parse" jsonschema:"true queues the document for parsing"`
}

// replace stores the first file of a form for a document.
func (e datasetEdits) replace(ctx context.Context, in replaceDocument) (documentView, error) {
	form, err := formOf(in.Request)
	if err != nil {
		return documentView{}, err
	}
	defer in.Request.EndBodyTime()
	v, err := e.replaceBy(ctx, in, form)
	if err != nil {
		form.Discard()
		return documentView{}, nameTaken(uploadFailure(err), "document of the dataset")
	}
	return documentViewOf(v), nil
}

func (e datasetEdits) replaceBy(
	ctx context.Context, in replaceDocument, form *api.FormReader,
) (v dataset.Document, err error) {
	for {
		part, err := form.Next()
		if errors.Is(err, io.EOF) {
			return v, badMember("file", "the form has no file named file")
		}
		if err != nil {
			return v, err
		}
		if part.FormName() != "file" {
			continue
		}
		u, err := uploadOf(part, true)
		if err != nil {
			return v, err
		}
		v, err = app.ReplaceFile(ctx, e.in.Datasets, in.Who, in.Dataset, in.ID, u)
		if err != nil || in.Parse != "true" {
			return v, err
		}
		if err := e.in.Parse(ctx, in.Who, in.Dataset, in.ID); err != nil {
			return v, err
		}
		return e.in.Document(ctx, in.Who, in.Dataset, in.ID)
	}
}

// uploadOf is a file of a form.
func uploadOf(part *multipart.Part, readable bool) (app.Upload, error) {
	u := app.Upload{Name: strings.TrimSpace(part.FileName()), Size: -1, Body: part, Readable: readable}
	if u.Name == "" {
		return u, badMember("file", "a file of the form has no name")
	}
	if strings.ContainsFunc(u.Name, unicode.IsControl) {
		return u, badMember("file", "file name %q has control characters", u.Name)
	}
	return u, nil
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
	refuse := strings.Split(in.Refuse, ",")
	u, err := uploadOf(part, slices.Contains(refuse, refuseUnreadable))
	if err != nil {
		return dataset.Document{}, err
	}
	u.Sole = slices.Contains(refuse, refuseDuplicates)
	v, err := d.Upload(ctx, in.Who, in.Dataset, u)
	if err != nil || in.Parse != "true" {
		return v, err
	}
	if err := d.Parse(ctx, in.Who, in.Dataset, v.ID); err != nil {
		return v, err
	}
	return d.Document(ctx, in.Who, in.Dataset, v.ID)
}

// uploadFailure maps an error of a form or of a file in it.
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
