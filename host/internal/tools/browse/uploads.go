package browse

import (
	"context"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// upload is a file that forms may send.
type upload struct {
	name string
	data []byte
}

type uploads []*upload

// uploads reads the files of upload_sources.
func (b *Browser) uploads(ctx context.Context, sources engine.Value) (uploads, error) {
	var list uploads
	size := 0
	for _, source := range sourcesIn(sources) {
		if len(list) == mostFiles {
			return nil, fmt.Errorf("upload_sources: %w: more than %d files", ErrTooLarge, mostFiles)
		}
		file, err := b.upload(ctx, source)
		if err != nil {
			return nil, fmt.Errorf("upload_sources: %.200s: %w", source.Text(), err)
		}
		if size += len(file.data); size > mostUploads {
			return nil, fmt.Errorf("upload_sources: %w: more than %d bytes", ErrTooLarge, mostUploads)
		}
		list.add(file)
	}
	return list, nil
}

// upload reads the file at an address, or one of the run by its descriptor.
func (b *Browser) upload(ctx context.Context, source engine.Value) (*upload, error) {
	if source.Kind() == engine.KindString {
		name, data, err := download(ctx, b.Network, nil, source.Str())
		return &upload{name, data}, err
	}
	if b.Files == nil {
		return nil, fmt.Errorf("%w: this host stores no files", engine.ErrNoPort)
	}
	file, err := b.Files.Open(ctx, source)
	if err != nil {
		return nil, err
	}
	if file.Size > largestFile {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, file.Size, largestFile)
	}
	content, err := file.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer content.Close() // it was only read
	data, err := io.ReadAll(&limited{content, largestFile})
	return &upload{cleanName(file.Name), data}, err
}

// sourcesIn returns the files that a value names, each once: addresses as strings, others as
// descriptors. A string may be an address, an id, a JSON list or several of them with commas
// between.
func sourcesIn(v engine.Value) []engine.Value {
	var list []engine.Value
	seen := map[string]bool{}
	add := func(source engine.Value) {
		if key := source.JSON(); !seen[key] {
			seen[key] = true
			list = append(list, source)
		}
	}
	var walk func(v engine.Value)
	walk = func(v engine.Value) {
		switch v.Kind() {
		case engine.KindNull:
		case engine.KindList:
			for _, e := range v.Slice() {
				walk(e)
			}
		case engine.KindObject:
			walkObject(v, walk, add)
		default:
			walkText(strings.TrimSpace(v.Text()), walk, add)
		}
	}
	walk(v)
	return list
}

func walkObject(v engine.Value, walk, add func(engine.Value)) {
	switch {
	case v.Get("file_id").Truthy():
		add(engine.Object("id", v.Get("file_id")))
	case v.Get("id").Truthy() || v.Get("doc_id").Truthy():
		add(v)
	default:
		for _, member := range v.Fields() {
			walk(member)
		}
	}
}

func walkText(text string, walk, add func(engine.Value)) {
	u, err := url.Parse(text)
	switch {
	case text == "":
	case err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https"):
		add(engine.String(text))
	case strings.HasPrefix(text, "["):
		if list, err := engine.ParseJSONText(text); err == nil {
			walk(list)
			return
		}
		add(engine.Object("id", text))
	case strings.Contains(text, ","):
		for part := range strings.SplitSeq(text, ",") {
			walk(engine.String(part))
		}
	default:
		add(engine.Object("id", text))
	}
}

// add appends a file; a name that is taken gets a number.
func (u *uploads) add(file *upload) {
	extension := path.Ext(file.name)
	stem := strings.TrimSuffix(file.name, extension)
	for n := 2; u.find(file.name) != nil; n++ {
		file.name = stem + "-" + strconv.Itoa(n) + extension
	}
	*u = append(*u, file)
}

// find returns the file of a name, or nil.
func (u uploads) find(name string) *upload {
	at := slices.IndexFunc(u, func(f *upload) bool { return f.name == name })
	if at < 0 {
		return nil
	}
	return u[at]
}

// names lists the files for a model.
func (u uploads) names() string {
	var list []string
	for _, file := range u {
		list = append(list, file.name)
	}
	return strings.Join(list, ", ")
}

// check refuses unknown names of files, and several for a field that takes one.
func (u uploads) check(v engine.Value, many bool) error {
	names := namesIn(v)
	if len(names) > 1 && !many {
		return fmt.Errorf("it takes one file, not %d", len(names))
	}
	for _, name := range names {
		switch {
		case len(u) == 0:
			return fmt.Errorf("the canvas names no files to send (upload_sources)")
		case u.find(name) == nil:
			return fmt.Errorf("there is no file %.100q (one of %s)", name, u.names())
		}
	}
	return nil
}

// namesIn returns the names of files in an argument of a model: one, or a list.
func namesIn(v engine.Value) (names []string) {
	list := []engine.Value{v}
	if v.Kind() == engine.KindList {
		list = v.Slice()
	}
	for _, name := range list {
		if text := name.Text(); text != "" {
			names = append(names, text)
		}
	}
	return names
}

// onDisk writes the file into a folder for a browser.
func (f *upload) onDisk(folder string) (string, error) {
	dir, err := os.MkdirTemp(folder, "upload-")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, f.name)
	return name, os.WriteFile(name, f.data, 0o600)
}

// write writes a part of a multipart form.
func (e *entry) write(w *multipart.Writer) error {
	if e.file == nil {
		return w.WriteField(e.name, e.value)
	}
	kind := mime.TypeByExtension(path.Ext(e.file.name))
	if kind == "" {
		kind = http.DetectContentType(e.file.data)
	}
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {multipart.FileContentDisposition(e.name, e.file.name)}, "Content-Type": {kind},
	})
	if err != nil {
		return err
	}
	_, err = part.Write(e.file.data)
	return err
}
