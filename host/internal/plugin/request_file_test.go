package plugin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// memoryFile is a file of a run in memory.
type memoryFile struct{ name, mime, data string }

// memoryFiles are files by id.
type memoryFiles map[string]memoryFile

var errDisk = errors.New("disk is broken")

func (f *memoryFiles) OpenFile(_ context.Context, id string) (File, error) {
	x, ok := (*f)[id]
	switch {
	case id == "broken":
		return File{}, errDisk
	case id == "torn":
		body := io.NopCloser(io.MultiReader(strings.NewReader("half"), tornReader{}))
		return File{ReadCloser: body, Name: "torn", Size: 8}, nil
	case !ok:
		return File{}, fmt.Errorf("file %q: %w", id, ErrNoFile)
	}
	body := io.NopCloser(strings.NewReader(x.data))
	return File{ReadCloser: body, Name: x.name, MIME: x.mime, Size: int64(len(x.data))}, nil
}

func (f *memoryFiles) SaveFile(_ context.Context, name, format string, data []byte) (engine.Value, error) {
	id := fmt.Sprint("f", len(*f)+1)
	(*f)[id] = memoryFile{name: name, data: string(data)}
	return engine.Object("doc_id", id, "format", format, "file_name", name), nil
}

type tornReader struct{}

func (tornReader) Read([]byte) (int, error) { return 0, errDisk }

// reading and writing are grants of files.
var filesGrant = map[string]any{"permissions": map[string]any{
	"files": map[string]any{"read": true, "write_bytes": 40, "reason": "r"},
}}

func TestFilesWithinTheGrant(t *testing.T) {
	m := load(t, newHost(t, Config{}), relay, filesGrant)
	readOnly := m.Manifest().Permissions
	readOnly.Files = &contract.FilesPermission{Read: true}
	writeOnly := m.Manifest().Permissions
	writeOnly.Files = &contract.FilesPermission{WriteBytes: 40}
	long := strings.Repeat("n", 201)
	for _, c := range []struct {
		name, request, code string
		grant               *contract.Permissions
		none                bool
	}{
		{"a file is read", `{"op":"file.read","args":{"id":"a"}}`, "", nil, false},
		{"a file is stored", `{"op":"file.put","args":{"name":"b.txt","body":"B"}}`, "", nil, false},
		{"reading is granted separately", `{"op":"file.read","args":{"id":"a"}}`, "denied", &writeOnly, false},
		{
			"writing is granted separately",
			`{"op":"file.put","args":{"name":"b.txt","body":"B"}}`, "denied", &readOnly, false,
		},
		{"no permission", `{"op":"file.read","args":{"id":"a"}}`, "denied", &contract.Permissions{}, false},
		{"a host without files", `{"op":"file.read","args":{"id":"a"}}`, "unsupported", nil, true},
		{"a host that stores nothing", `{"op":"file.put","args":{"name":"b","body":"B"}}`, "unsupported", nil, true},
		{"a missing file", `{"op":"file.read","args":{"id":"../a"}}`, "not_found", nil, false},
		{"the store fails", `{"op":"file.read","args":{"id":"broken"}}`, "upstream", nil, false},
		{"a file that ends early", `{"op":"file.read","args":{"id":"torn"}}`, "upstream", nil, false},
		{"missing id", `{"op":"file.read","args":{}}`, "invalid_argument", nil, false},
		{"a number as id", `{"op":"file.read","args":{"id":7}}`, "invalid_argument", nil, false},
		{
			"a long id",
			`{"op":"file.read","args":{"id":"` + strings.Repeat("x", 1025) + `"}}`, "invalid_argument", nil, false,
		},
		{"more than 10 MiB at once", `{"op":"file.read","args":{"id":"large"}}`, "upstream", nil, false},
		{
			"more bytes than granted",
			`{"op":"file.put","args":{"name":"b","body":"` + strings.Repeat("x", 41) + `"}}`, "denied", nil, false,
		},
		{"missing name", `{"op":"file.put","args":{"body":"B"}}`, "invalid_argument", nil, false},
		{"a path", `{"op":"file.put","args":{"name":"../b","body":"B"}}`, "invalid_argument", nil, false},
		{"a Windows path", `{"op":"file.put","args":{"name":"..\\b","body":"B"}}`, "invalid_argument", nil, false},
		{"the parent folder", `{"op":"file.put","args":{"name":"..","body":"B"}}`, "invalid_argument", nil, false},
		{
			"a line break in the name",
			`{"op":"file.put","args":{"name":"a\nb","body":"B"}}`, "invalid_argument", nil, false,
		},
		{
			"a bidirectional control in the name",
			`{"op":"file.put","args":{"name":"a\u202etxt.exe","body":"B"}}`, "invalid_argument", nil, false,
		},
		{"a long name", `{"op":"file.put","args":{"name":"` + long + `","body":"B"}}`, "invalid_argument", nil, false},
		{
			"missing media type",
			`{"op":"file.put","args":{"name":"b","mime":"text","body":"B"}}`, "invalid_argument", nil, false,
		},
		{
			"a header in the media type",
			`{"op":"file.put","args":{"name":"b","mime":"text/csv\r\nX: 1","body":"B"}}`,
			"invalid_argument", nil, false,
		},
		{"invalid base64", `{"op":"file.put","args":{"name":"b","body_base64":"*"}}`, "invalid_argument", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			large := memoryFile{data: strings.Repeat("x", 10<<20+1)}
			services := Services{Files: &memoryFiles{"a": {name: "a", data: "A"}, "large": large}}
			if c.none {
				services = Services{}
			}
			res, err := m.Call(t.Context(), CallRequest{Input: []byte(c.request), Services: services, Grant: c.grant})
			require.NoError(t, err)
			var a struct{ Error *contract.Error }
			require.NoError(t, json.Unmarshal(res.Output, &a), string(res.Output))
			if c.code == "" {
				require.Nil(t, a.Error)
				return
			}
			require.NotNil(t, a.Error, string(res.Output))
			require.Equal(t, c.code, string(a.Error.Code), a.Error.Message)
			require.Empty(t, res.Stored)
		})
	}
}

// Bytes come back as they were stored, in pieces too, and the call lists what it stored.
func TestFilesKeepTheirBytes(t *testing.T) {
	m := load(t, newHost(t, Config{}), chain, filesGrant)
	bytes := "\x00\xff\r\n" + strings.Repeat("☂", 5)
	files := memoryFiles{"a": {name: "a.bin", mime: "application/x-thing", data: bytes}}
	encoded := base64.StdEncoding.EncodeToString([]byte(bytes))
	all := asked(t, m, Services{Files: &files},
		`{"op":"file.put","args":{"name":"B.BIN","mime":"application/x-thing","body_base64":"`+encoded+`"}}`,
		`{"op":"file.read","args":{"id":"f2","stream":true}}`, `{"op":"http.read","args":{"stream":1,"max":64}}`,
		`{"op":"file.read","args":{"id":"torn","stream":true}}`, `{"op":"http.read","args":{"stream":2,"max":2}}`)
	require.Contains(t, string(all[1]), `"stream":1`)
	require.Equal(t, bytes, files["f2"].data)
	require.Contains(t, string(all[2]), encoded)
	require.Contains(t, string(all[4]), `"body":"half"`)
}

// A plugin in a loop ends at its bounds, and everything that it opened is closed.
func TestFloodsOfFiles(t *testing.T) {
	many := map[string]any{"permissions": map[string]any{
		"files": map[string]any{"read": true, "write_bytes": 1 << 40, "reason": "r"},
	}}
	m := load(t, newHost(t, Config{}), chain, many)
	files := memoryFiles{"a": {name: "a", data: "A"}}
	var put, open []string
	for range maxFiles + 1 {
		put = append(put, `{"op":"file.put","args":{"name":"b","body":"B"}}`)
	}
	for range maxStreams + 1 {
		open = append(open, `{"op":"file.read","args":{"id":"a","stream":true}}`)
	}
	answers := asked(t, m, Services{Files: &files}, put...)
	require.Contains(t, string(answers[maxFiles-1]), `"ok"`)
	require.Contains(t, string(answers[maxFiles]), `"denied"`)
	require.Len(t, files, 1+maxFiles)
	answers = asked(t, m, Services{Files: &files}, open...)
	require.Contains(t, string(answers[maxStreams-1]), `"ok"`)
	require.Contains(t, string(answers[maxStreams]), `"denied"`)
}

func TestStoredFilesAreDescribed(t *testing.T) {
	m := load(t, newHost(t, Config{}), relay, filesGrant)
	request := `{"op":"file.put","args":{"name":"plan","mime":"text/csv; charset=utf-8","body":"a,b"}}`
	res, err := m.Call(t.Context(), CallRequest{Input: []byte(request), Services: Services{Files: &memoryFiles{}}})
	require.NoError(t, err)
	require.Len(t, res.Stored, 1)
	require.JSONEq(t, `{"doc_id":"f1","format":"csv","file_name":"plan","filename":"plan",
		"mime_type":"text/csv; charset=utf-8","size":3}`, res.Stored[0].JSON())
}
