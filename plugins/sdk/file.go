package sdk

import "encoding/base64"

// File is a file of the run.
type File struct {
	Name string
	MIME string
	Size int64
	Data []byte
}

// fileHead is the answer of file.read without the content.
type fileHead struct {
	answered
	Name string `json:"name"`
	MIME string `json:"mime"`
	Size int64  `json:"size"`
}

// ReadFile returns a file of at most 10 MiB by its id: the member id of an upload, doc_id of a file
// that a node made. It requires the permission files with read, as does OpenFile.
func (c *Call) ReadFile(id string) (*File, error) {
	var out fileHead
	if err := c.ask("file.read", map[string]any{"id": id}, &out); err != nil {
		return nil, err
	}
	return &File{Name: out.Name, MIME: out.MIME, Size: out.Size, Data: out.bytes()}, nil
}

// OpenFile returns a file in pieces. Data of the File is nil. Close a stream that is not read to
// its end.
func (c *Call) OpenFile(id string) (*File, *Stream, error) {
	var out fileHead
	if err := c.ask("file.read", map[string]any{"id": id, "stream": true}, &out); err != nil {
		return nil, nil, err
	}
	f := &File{Name: out.Name, MIME: out.MIME, Size: out.Size}
	return f, &Stream{call: c, number: out.answered.Stream}, nil
}

// PutFile stores a file, which becomes an attachment of the node, and returns its id. It requires
// the permission files with write_bytes; one file has at most 3 MB.
func (c *Call) PutFile(name, mime string, data []byte) (id string, err error) {
	var out struct {
		ID string `json:"id"`
	}
	args := map[string]any{"name": name, "mime": mime, "body_base64": base64.StdEncoding.EncodeToString(data)}
	err = c.ask("file.put", args, &out)
	return out.ID, err
}
