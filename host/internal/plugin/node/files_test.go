package node_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
	"github.com/easel-canvas/easel/host/internal/upload/files"
)

// A plugin reads an upload of the run, and what it stores is an output that other nodes name.
func TestFilesOfARun(t *testing.T) {
	s := newShop(t, node.Config{})
	s.add(guest(
		`say {"outputs":{"read":`, `call {"op":"file.read","args":{"id":"FILE"}}`, `say ,"stored":`,
		`call {"op":"file.put","args":{"name":"sum.csv","mime":"text/csv","body":"1,2"}}`, `say }}`),
		`{"permissions":{"files":{"read":true,"write_bytes":100,"reason":"r"}}}`)
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("FILE", []byte("Ålesund"), 0o600))
	var uploads files.Uploads
	_, err := uploads.Add("FILE")
	require.NoError(t, err)
	made := filepath.Join(dir, "made")
	port := files.RunFiles{Uploads: &uploads, Made: files.Made{Dir: made}}
	canvas := []string{
		`begin Begin -> P`, `P plugin:sample@1 -> M`, `M Message {"content":["{P@attachments}"]}`,
	}
	out := s.play(t.Context(), engine.Ports{Files: port}, canvas...)
	require.NoError(t, out.err)
	require.Empty(t, out.errors["P"])
	read := out.outputs["P"].Get("read").Get("ok")
	require.Equal(t, "Ålesund", read.Get("body").Str())
	require.Equal(t, "FILE", read.Get("name").Str())
	file := out.outputs["P"].Get("attachment")
	require.Equal(t, "sum.csv", file.Get("file_name").Str())
	data, err := os.ReadFile(file.Get("doc_id").Str())
	require.NoError(t, err)
	require.Equal(t, "1,2", string(data))
	require.Equal(t, file.JSON(), out.outputs["M"].Get("downloads").At(0).JSON(), "a message hands it over")

	out = s.play(t.Context(), engine.Ports{}, canvas...)
	require.Equal(t, "unsupported", out.outputs["P"].Get("read").Get("error").Get("code").Str())
}
