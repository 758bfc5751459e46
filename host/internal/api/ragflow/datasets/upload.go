package datasets

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// maxFiles bounds the files of one upload.
const maxFiles = 256

// extensions of the files that a dataset takes.
var extensions = strings.Fields(`pdf msg eml doc docx ppt pptx yml xml htm html json jsonl ldjson csv txt ini xls
	xlsx wps rtf hlp pages numbers key md mdx odt ods odp fodt fods fodp tsv
	py js java c cpp h php go ts sh cs kt sql epub
	wav flac ape alac wavpack wv mp3 aac ogg vorbis opus
	jpg jpeg png tif gif pcx tga exif fpx svg psd cdr pcd dxf ufo eps ai raw wmf webp avif apng icon ico
	mpg mpeg avi rm rmvb mov wmv asf dat asx wvx mpe mpa mp4 mkv`)

// uploads are the files of one request.
type uploads struct {
	*face
	r      *api.Request
	id     string // of the dataset; "" until a field of the form names it
	stored []dataset.Document
	// refused are lines about files that a dataset does not take.
	refused []string
}

// upload stores the files of a form as documents of a dataset.
func (f documentHandlers) upload(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["dataset"]
	if _, err := f.dataset(ctx, r, id, f.refusals().noUploadDataset(id)); err != nil {
		return nil, err
	}
	if answer, err := f.uploadOther(ctx, r, id); answer != nil || err != nil {
		return answer, err
	}
	u := &uploads{face: f.face, r: r, id: id}
	if err := u.readForm(ctx); err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(u.stored))
	for i, v := range u.stored {
		name, _ := stateName(v.State)
		rows[i] = newDocument(v, documentNames, name).Value()
	}
	if len(u.refused) > 0 {
		return nil, f.refusedFiles(strings.Join(u.refused, "\n"), engine.List(rows...))
	}
	return envelope.Result(engine.List(rows...)), nil
}

// readForm stores the files of a form, one after the other as they arrive.
func (u *uploads) readForm(ctx context.Context) error {
	r := u.r
	if err := r.CheckBody(r.MaxBody()); err != nil {
		return err
	}
	kind, params, _ := mime.ParseMediaType(r.HTTP.Header.Get("Content-Type"))
	if kind != "multipart/form-data" || params["boundary"] == "" {
		return api.Failed(api.KindBadArgument, "No file part!")
	}
	r.LimitBodyTime()
	defer r.EndBodyTime()
	form := r.Multipart(params["boundary"], r.MaxBody())
	err := u.storeAll(ctx, form)
	if err == nil && len(u.stored)+len(u.refused) == 0 {
		err = api.Failed(api.KindBadArgument, "No file part!")
	}
	if err == nil {
		return nil
	}
	form.Discard()
	return errors.Join(u.undo(ctx), formFailure(err))
}

// undo deletes what a refused request has stored: it is refused as a whole.
func (u *uploads) undo(ctx context.Context) error {
	var ids []string
	for _, v := range u.stored {
		ids = append(ids, v.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := u.data.DeleteDocuments(context.WithoutCancel(ctx), u.r.Who, u.id, ids...)
	return err
}

func (u *uploads) storeAll(ctx context.Context, form *api.FormReader) error {
	for {
		part, err := form.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if part.FormName() != "file" {
			if err := u.field(ctx, form, part); err != nil {
				return err
			}
			continue
		}
		if err := u.store(ctx, part); err != nil {
			return err
		}
	}
}

// field reads a field of the form; that of the page names its dataset there.
func (u *uploads) field(ctx context.Context, form *api.FormReader, part *multipart.Part) error {
	if part.FormName() != "kb_id" || u.id != "" {
		return nil
	}
	id, err := form.Text(part)
	if err != nil {
		return err
	}
	u.id = id
	_, err = u.dataset(ctx, u.r, id, failed("Can't find this dataset!"))
	return err
}

// store stores one file of the form.
func (u *uploads) store(ctx context.Context, part *multipart.Part) error {
	name := part.FileName()
	switch {
	case u.id == "":
		return api.Lacking([]string{"kb_id"})
	case name == "":
		return api.Failed(api.KindBadArgument, "No file selected!")
	case len(name) > longestFileName:
		return nameTooLong()
	case len(u.stored)+len(u.refused) == maxFiles:
		return api.Failed(api.KindBadArgument, "More than %d files in one request.", maxFiles)
	case !slices.Contains(extensions, suffix(name)):
		u.refused = append(u.refused, name+": This type of file has not been supported yet!")
		return nil
	}
	v, err := u.data.Upload(ctx, u.r.Who, u.id, app.Upload{Name: name, Size: -1, Body: part, Source: "local"})
	if err == nil {
		u.stored = append(u.stored, v)
	}
	return err
}

// formFailure maps an error of a form or of a file in it.
func formFailure(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.Is(err, app.ErrFileTooLarge), errors.As(err, &large):
		return api.TooLarge("The file is too large.")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return api.Failed(api.KindBadArgument, "The form ends in the middle.")
	}
	return err
}

// uploadOther makes a document without a form, where the dialect has that: of a page at an address,
// or an empty one. Both results are nil for a form.
func (f documentHandlers) uploadOther(ctx context.Context, r *api.Request, id string) (api.Response, error) {
	kind := strings.ToLower(cmp.Or(r.Query.Get("type"), "local"))
	if !f.uploadsOther() {
		return nil, nil
	}
	switch kind {
	case "local":
		return nil, nil
	case "web", "empty":
	default:
		return nil, api.Failed(api.KindBadArgument, "`type` must be one of \"local\", \"web\", or \"empty\".")
	}
	if err := r.CheckBody(r.MaxBody()); err != nil {
		return nil, err
	}
	if err := f.loose(r); err != nil {
		return nil, err
	}
	name, address := strings.TrimSpace(r.Body.Text("name")), strings.TrimSpace(r.Body.Text("url"))
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	web := kind == "web"
	switch {
	case web && name == "":
		return nil, api.Failed(api.KindBadArgument, `Lack of "name"`)
	case web && address == "":
		return nil, api.Failed(api.KindBadArgument, `Lack of "url"`)
	case name == "":
		return nil, api.Failed(api.KindBadArgument, "File name can't be empty.")
	case len(name) > longestFileName:
		return nil, nameTooLong()
	case web && !isWebAddress(address):
		return nil, errNoAddress
	}
	var v dataset.Document
	var err error
	if web {
		v, err = f.uploadPage(ctx, r, id, name, address)
	} else {
		v, err = f.uploadEmpty(ctx, r, id, name)
	}
	if err != nil {
		return nil, err
	}
	return envelope.Result(documentRow(v)), nil
}

func (f documentHandlers) uploadEmpty(ctx context.Context, r *api.Request, id, name string) (dataset.Document, error) {
	_, n, err := f.data.Documents(ctx, r.Who, id, app.DocumentList{Name: name, Page: 1, Size: 1})
	if err == nil && n > 0 {
		err = errNameTaken
	}
	if err != nil {
		return dataset.Document{}, err
	}
	return f.data.Upload(ctx, r.Who, id, app.Upload{Name: name, Body: strings.NewReader(""), Source: "local"})
}

// uploadPage stores what an address returns.
func (f documentHandlers) uploadPage(
	ctx context.Context, r *api.Request, id, name, address string,
) (dataset.Document, error) {
	_, body, err := f.services.Files.Page(ctx, address)
	if err != nil {
		return dataset.Document{}, err
	}
	if suffix(name) == "" {
		name += ".html"
	}
	return f.data.Upload(ctx, r.Who, id, app.Upload{
		Name: name, Size: int64(len(body)), Body: strings.NewReader(body), Source: "web",
	})
}
