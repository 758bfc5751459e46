package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/testing/logtest"
)

// A damaged file of the run log is in the metrics and the health of the host, which continues to
// serve.
func TestDamagedRunLogIsReported(t *testing.T) {
	dir := t.TempDir()
	_, err := openIn(t, dir)
	require.NoError(t, err)
	nats := logtest.OpenUntil(t, broker.Config{Dir: dir})
	_, err = nats.Files.Put(t.Context(), "tenant/file", strings.NewReader("something to lose"))
	require.NoError(t, err)
	require.NoError(t, nats.Close())

	file := filepath.Join(dir, "nats", "jetstream", "$G", "streams", "OBJ_easel_files", "msgs", "1.blk")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	at := bytes.Index(data, []byte("something to lose"))
	require.Positive(t, at)
	data[at] ^= 1
	require.NoError(t, os.WriteFile(file, data, 0o600))

	_, url := open(t, Config{Dir: dir})
	require.Contains(t, asked(t, url, "GET", "/metrics", "", ""), "easel_run_log_damaged_files 1")
	ready := asked(t, url, "GET", "/readyz", "", "")
	require.JSONEq(t, `{"status":"ok","db":"ok","log":"ok","log_files":"damaged"}`, ready)
	require.Contains(t, asked(t, url, "GET", "/api/v1/system/status", "", ""), `"status":"yellow"`)
}
