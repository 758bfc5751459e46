package plugin

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"path"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Files are the files of the run that a plugin works for.
type Files interface {
	// OpenFile opens a file of the run's tenant by its id. Its error is ErrNoFile when there is
	// none.
	OpenFile(ctx context.Context, id string) (File, error)
	// SaveFile stores a file and describes it: {doc_id, format, file_name}.
	SaveFile(ctx context.Context, name, format string, data []byte) (engine.Value, error)
}

// File is a stored file, to be read once and closed.
type File struct {
	io.ReadCloser
	Name, MIME string
	Size       int64
}

// ErrNoFile means that no file has the id; the plugin gets not_found.
var ErrNoFile = errors.New("no such file")

// Bounds of files in one call of a plugin.
const (
	maxFiles    = 16 // stored
	maxFileID   = 1024
	maxFileMIME = 100
)

// fileRead is file.read: a whole file, or a stream for http.read.
func (r *requests) fileRead(args engine.Value) (engine.Value, error) {
	id, err := textOf("file.read", args, "id")
	files, grant := r.g.req.Services.Files, r.g.grant.Files
	switch {
	case err != nil:
		return engine.Null, err
	case grant == nil || !grant.Read:
		return engine.Null, contract.Errorf(contract.Denied, "reading files is not granted")
	case files == nil:
		return engine.Null, contract.Errorf(contract.Unsupported, "there are no files here")
	case id == "" || len(id) > maxFileID:
		return engine.Null, contract.Errorf(contract.InvalidArgument, "file.read: id of %d bytes, want 1 to %d",
			len(id), maxFileID)
	}
	var out engine.Value
	r.g.outside(func() { out, err = r.openFile(files, id, args.Get("stream").True()) })
	return out, err
}

// openFile describes a file with its content or with a stream of it. A stream outlives the request,
// so that its context is the call's.
func (r *requests) openFile(files Files, id string, streamed bool) (engine.Value, error) {
	ctx, stop := r.g.hostContext()
	f, err := files.OpenFile(ctx, id)
	if err != nil {
		stop()
		return engine.Null, fileError(id, err)
	}
	out := engine.NewObject(4).Set("name", engine.String(f.Name)).Set("mime", engine.String(f.MIME)).
		Set("size", engine.Int(f.Size))
	if streamed {
		number, e := r.holdBody(&trip{ctx: ctx, stop: stop}, fileBody{f.ReadCloser})
		if e != nil {
			stop()
			return engine.Null, errors.Join(e, f.Close())
		}
		return out.Set("stream", engine.Int(int64(number))).Value(), nil
	}
	defer stop()
	data, err := io.ReadAll(io.LimitReader(f, maxResponse+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return engine.Null, fileError(id, err)
	}
	if len(data) > maxResponse {
		return engine.Null, contract.Errorf(contract.Upstream,
			"file.read: file of more than %d bytes; read it in pieces with stream and http.read", maxResponse)
	}
	return bodyMember(out, data).Value(), nil
}

// fileBody returns its errors as errors of file.read.
type fileBody struct{ io.ReadCloser }

// Read reads the next bytes.
func (b fileBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = contract.Errorf(contract.Upstream, "file.read: %v", err)
	}
	return n, err
}

func fileError(id string, err error) error {
	if errors.Is(err, ErrNoFile) {
		return contract.Errorf(contract.NotFound, "file.read: no file %q", id)
	}
	return contract.Errorf(contract.Upstream, "file.read: %v", err)
}

// filePut is file.put: it stores a file, which becomes an attachment of the node.
func (r *requests) filePut(args engine.Value) (engine.Value, error) {
	name, mimeType, data, err := newFile(args)
	files, grant := r.g.req.Services.Files, r.g.grant.Files
	switch {
	case err != nil:
		return engine.Null, err
	case grant == nil || grant.WriteBytes <= 0:
		return engine.Null, contract.Errorf(contract.Denied, "storing files is not granted")
	case files == nil:
		return engine.Null, contract.Errorf(contract.Unsupported, "files cannot be stored here")
	case len(r.g.stored) == maxFiles:
		return engine.Null, contract.Errorf(contract.Denied, "file.put: more than %d files in a call", maxFiles)
	case r.filed+int64(len(data)) > grant.WriteBytes:
		return engine.Null, contract.Errorf(contract.Denied, "file.put: more than the %d bytes granted",
			grant.WriteBytes)
	}
	var stored engine.Value
	r.outside(func(ctx context.Context) {
		stored, err = files.SaveFile(ctx, name, formatOf(name, mimeType), data)
	})
	if err != nil {
		return engine.Null, contract.Errorf(contract.Upstream, "file.put: %v", err)
	}
	r.filed += int64(len(data))
	stored = stored.With("filename", stored.Get("file_name")).With("mime_type", engine.String(mimeType)).
		With("size", engine.Int(int64(len(data))))
	r.g.stored = append(r.g.stored, stored)
	return engine.Object("id", stored.Get("doc_id").Text()), nil
}

// newFile reads the arguments of file.put.
func newFile(args engine.Value) (name, mimeType string, data []byte, err error) {
	texts := map[string]string{}
	for _, member := range [...]string{"name", "mime", "body", "body_base64"} {
		if texts[member], err = textOf("file.put", args, member); err != nil {
			return "", "", nil, err
		}
	}
	name, mimeType = texts["name"], texts["mime"]
	if !contract.IsFileName(name) {
		return "", "", nil, contract.Errorf(contract.InvalidArgument,
			"file.put: name: want the name of a file of at most 200 characters, without a folder")
	}
	if mimeType == "" {
		mimeType = "application/octet-stream"
	}
	if kind, _, err := mime.ParseMediaType(mimeType); err != nil || len(mimeType) > maxFileMIME ||
		!strings.Contains(kind, "/") {
		return "", "", nil, contract.Errorf(contract.InvalidArgument,
			"file.put: mime: want a media type, as in text/csv")
	}
	data = []byte(texts["body"])
	if encoded := texts["body_base64"]; encoded != "" {
		if data, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return "", "", nil, contract.Errorf(contract.InvalidArgument, "file.put: body_base64: %v", err)
		}
	}
	return name, mimeType, data, nil
}

// formatOf returns the extension of a name without the point, or else the second half of the media
// type.
func formatOf(name, mimeType string) string {
	if extension := path.Ext(name); len(extension) > 1 {
		return strings.ToLower(extension[1:])
	}
	kind, _, _ := strings.Cut(mimeType, ";")
	_, sub, _ := strings.Cut(kind, "/")
	return sub
}
