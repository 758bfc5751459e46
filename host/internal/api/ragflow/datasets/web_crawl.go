package datasets

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/url"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
)

// crawl makes a document of what an address returns, which the page names in a form.
func (f webDocuments) crawl(ctx context.Context, r *api.Request) (api.Response, error) {
	form, err := crawlForm(r)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, name := range []string{"kb_id", "name", "url"} {
		if !form.Has(name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, api.Lacking(missing)
	}
	id, name := form.Get("kb_id"), strings.TrimSpace(form.Get("name"))
	if id == "" {
		return nil, api.Refused(api.KindBadArgument, `Lack of "KB ID"`)
	}
	if !isWebAddress(form.Get("url")) {
		return nil, errNoAddress
	}
	if _, err := f.dataset(ctx, r, id, failed("Can't find this dataset!")); err != nil {
		return nil, err
	}
	switch {
	case name == "":
		return nil, api.Failed(api.KindBadArgument, "File name can't be empty.")
	case len(name) > longestFileName:
		return nil, nameTooLong()
	}
	_, err = f.documents.uploadPage(ctx, r, id, name, form.Get("url"))
	return jsonOK(engine.Bool(true), err)
}

// crawlForm reads the fields of a form.
func crawlForm(r *api.Request) (url.Values, error) {
	if err := r.CheckBody(r.MaxBody()); err != nil {
		return nil, err
	}
	r.LimitBodyTime()
	defer r.EndBodyTime()
	kind, params, _ := mime.ParseMediaType(r.HTTP.Header.Get("Content-Type"))
	if kind != "multipart/form-data" || params["boundary"] == "" {
		return nil, api.Lacking([]string{"kb_id", "name", "url"})
	}
	form, out := r.Multipart(params["boundary"], r.MaxBody()), url.Values{}
	for {
		part, err := form.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err == nil && part.FileName() == "" {
			var text string
			text, err = form.Text(part)
			out.Set(part.FormName(), text)
		}
		if err != nil {
			form.Discard()
			return nil, formFailure(err)
		}
	}
}

var errNoAddress = api.Refused(api.KindBadArgument, "The URL format is invalid")

func isWebAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
