package ragflow_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
	"github.com/easel-canvas/easel/host/internal/testing/brokertest"
	"github.com/easel-canvas/easel/host/internal/testing/disktest"
)

// fullFiles is a file store on a small disk without room.
func fullFiles(t *testing.T) *blobs.Store {
	t.Helper()
	dir := disktest.Small(t, "16m")
	files, err := blobs.New(t.Context(), brokertest.Open(t, broker.Config{Dir: dir}))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 10<<20), 0o600))
	return files
}

// An upload that the disk has no room for is answered, also to a client that reads nothing before
// it has sent all.
func TestUploadToAFullDisk(t *testing.T) {
	files := fullFiles(t)
	s := apitest.New(t, func(c *apitest.Config) { c.Files = files })
	canvas := s.Canvas("c", apitest.Echo)
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "large.bin")
	require.NoError(t, err)
	_, err = part.Write(make([]byte, 30<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for _, path := range []string{"/v1/canvas/upload/", "/0.27/v1/canvas/upload/"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		_, err = fmt.Fprintf(conn, "POST %s%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer one\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
			path, canvas, w.FormDataContentType(), form.Len())
		require.NoError(t, err)
		_, err = conn.Write(form.Bytes())
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusInsufficientStorage, res.StatusCode, string(text))
		body, err := engine.ParseJSON(text)
		require.NoError(t, err)
		require.Equal(t, "The host cannot store anything now: storage of the run log is full", body.Get("message").Str())
		require.NoError(t, conn.Close())
	}
}
