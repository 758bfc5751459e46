package api

import (
	"errors"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Bounds of multipart forms.
const (
	maxParts      = 1000
	partHeaders   = 16 << 10 // bytes of one part's headers, with its name
	formReadAhead = 4 << 10  // bytes that mime/multipart reads ahead
)

// errPartHeaders means that the headers of a part of a form are too long.
var errPartHeaders = errors.New("the headers of a part are too long")

// FormReader reads a multipart form part by part as it arrives; the standard library alone takes 10
// MB of headers per part and any number of parts.
type FormReader struct {
	r      *Request
	in     *multipart.Reader
	body   io.Reader
	part   *multipart.Part
	parts  int
	ahead  int64 // bytes that may be read for the headers of the next part; negative means any
	Broken error // why the body did not arrive
}

// Multipart reads the form of a request of at most the given size.
func (r *Request) Multipart(boundary string, most int64) *FormReader {
	f := &FormReader{r: r, body: http.MaxBytesReader(r.Writer, r.HTTP.Body, most)}
	f.in = multipart.NewReader((*formBytes)(f), boundary)
	return f
}

// formBytes are the bytes of a form.
type formBytes FormReader

func (f *formBytes) Read(p []byte) (int, error) {
	if f.ahead == 0 {
		return 0, errPartHeaders
	}
	if f.ahead > 0 && int64(len(p)) > f.ahead {
		p = p[:f.ahead]
	}
	n, err := f.body.Read(p)
	if f.ahead > 0 {
		f.ahead -= int64(n)
	}
	if err != nil && err != io.EOF {
		f.Broken = err
	}
	return n, err
}

// Next is the next part; the one before is read to its end. Errors: [io.EOF] after the last one; a
// [*Failure] if it is no form.
func (f *FormReader) Next() (*multipart.Part, error) {
	f.ahead = -1
	if f.part != nil {
		if _, err := io.Copy(io.Discard, f.part); err != nil {
			return nil, f.failure(err)
		}
	}
	if f.parts++; f.parts > maxParts {
		return nil, TooLarge("the form has more than %d parts", maxParts)
	}
	f.ahead = partHeaders + formReadAhead
	part, err := f.in.NextPart()
	f.ahead = -1
	f.part = part
	if errors.Is(err, errPartHeaders) {
		err = TooLarge("the headers of a part of the form are longer than %d bytes", partHeaders)
	}
	return part, f.failure(err)
}

// failure returns the error of a form for its reader: how it arrives and its end as they are,
// others as those of the client.
func (f *FormReader) failure(err error) error {
	var known *Failure
	if err == nil || f.Broken != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &known) {
		return err
	}
	return Failed(KindBadRequest, "the form cannot be read: %s", err)
}

// Discard reads what is left of a form that is refused, within its size and time: many clients read
// no answer before they have sent everything, and see a broken connection in its place.
func (f *FormReader) Discard() {
	if f.Broken == nil {
		_, _ = io.Copy(io.Discard, f.body) // a client that leaves has no use for the answer
	}
}

// Text reads a field and reserves its memory.
func (f *FormReader) Text(part io.Reader) (string, error) {
	var b strings.Builder
	buffer, _ := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	for {
		n, err := part.Read(buffer[:])
		if need := b.Len() + n; need > b.Cap() {
			// The builder grows to about twice its size, and the text before it is free after that.
			if err := f.r.ReserveText(int64(2*need + 512)); err != nil {
				return "", err
			}
		}
		b.Write(buffer[:n])
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return "", f.failure(err)
		}
	}
}

// ParseForm reads an urlencoded form.
func (r *Request) ParseForm(text string) (url.Values, error) {
	switch {
	case len(text) > formBody:
		return nil, &http.MaxBytesError{Limit: formBody}
	case strings.Count(text, "&") >= maxFields:
		return nil, TooLarge("the form has more than %d fields", maxFields)
	}
	if err := r.ReserveBody(int64(len(text))); err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, Failed(KindBadRequest, "the form cannot be read: %s", err)
	}
	return values, nil
}

// FirstValues is a form as an object of its fields' first values, ordered by name.
func FirstValues(values url.Values) engine.Value {
	b := engine.NewObject(len(values))
	for _, k := range slices.Sorted(maps.Keys(values)) {
		b.Set(k, engine.String(values[k][0]))
	}
	return b.Value()
}

// readForm reads the fields of a multipart form; files among them are passed over.
func (r *Request) readForm(boundary string, most int64) error {
	r.LimitBodyTime()
	form := r.Multipart(boundary, min(most, formBody))
	b := engine.NewObject(8)
	for {
		part, err := form.Next()
		if err == io.EOF {
			break
		}
		if err == nil && part.FileName() != "" {
			continue
		}
		text := ""
		if err == nil {
			text, err = form.Text(part)
		}
		if err != nil {
			return r.formFailure(form, err)
		}
		if name := part.FormName(); !b.Has(name) {
			b.Set(name, engine.String(text))
		}
	}
	r.EndBodyTime()
	r.Body.Value = b.Value()
	return nil
}

// formFailure maps an error of a form: of its transport, or of its content.
func (r *Request) formFailure(form *FormReader, err error) error {
	if form.Broken != nil {
		return r.BodyFailure(form.Broken)
	}
	var f *Failure
	if errors.As(err, &f) {
		return err
	}
	return Failed(KindBadRequest, "the form cannot be read: %s", err) // it ends too early
}
