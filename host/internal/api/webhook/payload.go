package webhook

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
	"github.com/easel-canvas/easel/host/internal/app"
)

// mostWebhookFiles bounds the stored files of one form.
const mostWebhookFiles = 10

// payload is {query, headers, body, input, raw_body, raw_encoding, raw_headers}: the parts
// of the request that the canvas's schema lets pass, and all of it as it came.
func (in *incoming) payload(ctx context.Context, v app.Canvas, begin engine.Value) (engine.Value, error) {
	body, err := in.readBody(ctx, v, begin.Get("content_types"))
	if err != nil {
		return engine.Null, err
	}
	query, headers, shown := engine.NewObject(8), engine.NewObject(16), engine.NewObject(16)
	for k, values := range in.Query.Values {
		query.Set(k, engine.String(values[0]))
	}
	for k, values := range in.HTTP.Header {
		text := engine.String(strings.Join(values, ", "))
		headers.Set(k, text)
		if !isProof(k, begin.Get("security")) {
			shown.Set(k, text)
		}
	}
	raw := engine.Object("query", query.Value(), "headers", headers.Value(), "body", body,
		"content_type", in.HTTP.Header.Get("Content-Type"))
	out := engine.NewObject(7)
	schema := begin.Get("schema")
	for _, section := range []string{"query", "headers", "body"} {
		clean, err := in.cleanSection(section, raw.Get(section), schema.Get(section))
		if err != nil {
			return engine.Null, err
		}
		out.Set(section, clean)
	}
	out.Set("input", raw.With("headers", shown.Value()))
	text, encoding, err := in.rawOutput()
	if err != nil {
		return engine.Null, err
	}
	out.Set("raw_body", engine.String(text)).Set("raw_encoding", engine.String(encoding))
	return out.Set("raw_headers", shown.Value()).Value(), nil
}

// rawOutput is the body as it arrived and its encoding: utf-8, base64 for other bytes, or "" for a
// multipart form, whose files are stored as they arrive.
func (in *incoming) rawOutput() (text, encoding string, err error) {
	kind, _, _ := mime.ParseMediaType(in.HTTP.Header.Get("Content-Type"))
	switch text := in.text; {
	case kind == "multipart/form-data" || text == nil:
		return "", "", nil
	case utf8.ValidString(*text):
		return *text, "utf-8", nil
	default:
		if err := in.Reserve(int64(base64.StdEncoding.EncodedLen(len(*text)))); err != nil {
			return "", "", err
		}
		return base64.StdEncoding.EncodeToString([]byte(*text)), "base64", nil
	}
}

// readBody reads the body by its Content-Type; an unreadable one is an empty object.
func (in *incoming) readBody(ctx context.Context, v app.Canvas, wanted engine.Value) (engine.Value, error) {
	header := in.HTTP.Header.Get("Content-Type")
	kind, params, _ := mime.ParseMediaType(header)
	if kind != "" && !acceptsType(wanted, kind) {
		return engine.Null, badWebhook("Invalid Content-Type: expect '%s', got '%s'", wanted.Text(), kind)
	}
	if kind == "multipart/form-data" {
		return in.readForm(ctx, v, params["boundary"])
	}
	text, err := in.rawBody()
	if err != nil {
		return engine.Null, err
	}
	in.Body.Length = len(text)
	if kind == "application/x-www-form-urlencoded" {
		values, err := in.ParseForm(text)
		if err != nil {
			return unreadable(err)
		}
		return api.FirstValues(values), nil
	}
	parsed, err := in.Parse(text)
	if err != nil {
		return unreadable(err)
	}
	return parsed, nil
}

// unreadable handles a body that does not match its Content-Type: an empty object. One that is too
// large is refused.
func unreadable(err error) (engine.Value, error) {
	var f *api.Failure
	var large *http.MaxBytesError
	if errors.As(err, &f) && f.Status >= http.StatusRequestEntityTooLarge || errors.As(err, &large) {
		return engine.Null, err
	}
	return engine.Object(), nil
}

// webhookFailure is why a body did not arrive, in the original's words.
func webhookFailure(err error) error {
	var large *http.MaxBytesError
	var f *api.Failure
	switch {
	case errors.As(err, &large):
		return badWebhook("Request body too large: more than %d", large.Limit)
	case errors.As(err, &f) && f.Status == http.StatusRequestTimeout:
		return badWebhook("The body did not arrive.")
	}
	return err
}

// acceptsType reports whether a canvas accepts a content type. It names one, or
// several in a list; none means any.
func acceptsType(wanted engine.Value, kind string) bool {
	if wanted.Kind() != engine.KindList {
		wanted = engine.List(wanted)
	}
	named := false
	for _, w := range wanted.Elements() {
		if strings.EqualFold(kind, w.Text()) {
			return true
		}
		named = named || w.Truthy()
	}
	return !named
}

// readForm reads fields as texts and files as lists of what they hold, up to where the form
// breaks.
func (in *incoming) readForm(ctx context.Context, v app.Canvas, boundary string) (engine.Value, error) {
	in.LimitBodyTime()
	defer in.EndBodyTime()
	form := in.Multipart(boundary, in.most)
	b := engine.NewObject(8)
	files := map[string]engine.Value{}
	kept := 0
	for {
		part, err := form.Next()
		var text string
		if err == nil && part.FileName() == "" {
			text, err = form.Text(part)
		}
		switch {
		case form.Broken != nil:
			return engine.Null, webhookFailure(in.BodyFailure(form.Broken))
		case err == io.EOF:
			return b.Value(), nil
		case err != nil:
			if _, err := unreadable(err); err != nil {
				return engine.Null, err
			}
			return b.Value(), nil
		}
		name := part.FormName()
		if part.FileName() == "" {
			b.Set(name, engine.String(strings.ToValidUTF8(text, "\uFFFD")))
			continue
		}
		if kept++; kept > mostWebhookFiles {
			continue
		}
		if text, err = in.file(ctx, v, part.FileName(), part); err != nil {
			in.Logger().Info("file of a webhook was not stored", "canvas", v.ID, "err", err)
			continue
		}
		if err := in.Reserve(int64(len(text))); err != nil {
			return engine.Null, err
		}
		list, ok := files[name]
		if !ok {
			list = engine.List()
		}
		files[name] = list.Append(engine.String(text))
		b.Set(name, files[name])
	}
}

// file stores a file and returns its text.
func (in *incoming) file(ctx context.Context, v app.Canvas, name string, r io.Reader) (string, error) {
	p := app.FileParty{Tenant: v.Tenant, By: app.FileByWebhook, Canvas: v.ID}
	file, err := in.f.services.Files.Put(ctx, p, name, r)
	if err != nil {
		return "", err
	}
	return in.f.services.Files.Text(ctx, p, file)
}

// cleanSection lets the listed fields pass, with defaults and casts.
func (in *incoming) cleanSection(section string, data, schema engine.Value) (engine.Value, error) {
	properties := schema.Get("properties")
	required := texts(schema.Get("required"))
	out := engine.NewObject(properties.Len())
	for name, field := range properties.Fields() {
		kind := field.Get("type").Text()
		v, given := data.Lookup(name)
		if !given && section == "headers" {
			v, given = headerField(data, name)
		}
		switch {
		case !given && slices.Contains(required, name):
			return engine.Null, badWebhook("%s missing required field: %s", section, name)
		case !given:
			out.Set(name, zeroOf(kind))
			continue
		}
		v, err := in.cast(section+"."+name, v, kind)
		if err != nil {
			return engine.Null, err
		}
		out.Set(name, v)
	}
	return out.Value(), nil
}

// headerField finds a header without regard to case, as HTTP has it.
func headerField(data engine.Value, name string) (engine.Value, bool) {
	for k, v := range data.Fields() {
		if strings.EqualFold(k, name) {
			return v, true
		}
	}
	return engine.Null, false
}

// zeroOf returns the value of an optional field that was not sent.
func zeroOf(kind string) engine.Value {
	switch {
	case kind == "file", strings.HasPrefix(kind, "array"):
		return engine.List()
	case kind == "object":
		return engine.Object()
	case kind == "boolean":
		return engine.Bool(false)
	case kind == "number":
		return engine.Int(0)
	case kind == "string":
		return engine.String("")
	}
	return engine.Null
}

// cast turns texts, which queries, headers and forms consist of, into what the
// schema wants, and checks everything else.
func (in *incoming) cast(field string, v engine.Value, kind string) (engine.Value, error) {
	if v.Kind() == engine.KindString && kind != "string" {
		var err error
		if v, err = in.castText(field, v.Str(), kind, v); err != nil {
			return v, err
		}
	}
	if !fits(v, kind) {
		return engine.Null, badWebhook("%s type mismatch: expected %s, got %s", field, kind, schema.TypeName(v))
	}
	return v, nil
}

func (in *incoming) castText(field, text, kind string, v engine.Value) (engine.Value, error) {
	bad := func() (engine.Value, error) {
		return engine.Null, badWebhook("%s auto-cast failed: %q is no %s", field, text, kind)
	}
	text = strings.TrimSpace(text)
	switch {
	case kind == "boolean":
		switch strings.ToLower(text) {
		case "true", "1":
			return engine.Bool(true), nil
		case "false", "0":
			return engine.Bool(false), nil
		}
		return bad()
	case kind == "number":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return engine.Int(n), nil
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil && f-f == 0 {
			return engine.Float(f), nil
		}
		return bad()
	case kind == "object" || strings.HasPrefix(kind, "array"):
		want := engine.KindList
		if kind == "object" {
			want = engine.KindObject
		}
		parsed, err := in.Parse(text)
		if f := (*api.Failure)(nil); errors.As(err, &f) {
			return engine.Null, err
		}
		if err != nil || parsed.Kind() != want {
			return bad()
		}
		return parsed, nil
	}
	return v, nil
}

func fits(v engine.Value, kind string) bool {
	if of, ok := strings.CutPrefix(kind, "array<"); ok {
		if v.Kind() != engine.KindList {
			return false
		}
		of = strings.TrimSuffix(of, ">")
		for _, x := range v.Elements() {
			if !fits(x, of) {
				return false
			}
		}
		return true
	}
	switch kind {
	case "string":
		return v.Kind() == engine.KindString
	case "number":
		return v.Kind() == engine.KindNumber
	case "boolean":
		return v.Kind() == engine.KindBool
	case "object":
		return v.Kind() == engine.KindObject
	case "array", "file":
		return v.Kind() == engine.KindList
	}
	return true // any
}
