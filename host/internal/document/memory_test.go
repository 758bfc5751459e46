package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/document/hostile"
)

// measureVariable makes the test binary read the files it lists, one path per line, and print a
// cost.
const measureVariable = "EASEL_MEASURE_DOCUMENTS"

// cost is the resource usage of reading documents.
type cost struct {
	Growth int64 // of peak resident memory, in bytes
	Took   time.Duration
	Errors []string // by file; "" if it was read
}

// measure reads files concurrently in this process and prints a cost.
func measure(cacheDir string, paths []string) error {
	r := &Reader{CacheDir: cacheDir}
	// Compile the PDF reader before the measurement.
	if _, err := r.Text(context.Background(), "a.pdf", "", []byte("%PDF-1.7")); !errors.Is(err, ErrDamaged) {
		return err
	}
	runtime.GC()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // resets VmHWM
		return err
	}
	before, start := status("VmRSS"), time.Now()
	c := cost{Errors: make([]string, len(paths))}
	var group sync.WaitGroup
	for i, path := range paths {
		group.Go(func() {
			if err := readPath(r, path); err != nil {
				c.Errors[i] = err.Error()
			}
		})
	}
	group.Wait()
	c.Growth, c.Took = status("VmHWM")-before, time.Since(start)
	return errors.Join(json.NewEncoder(os.Stdout).Encode(c), r.Close())
}

func readPath(r *Reader, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	open := func(context.Context) (io.ReadCloser, error) { return os.Open(path) }
	_, err = r.Read(context.Background(), Source{Name: filepath.Base(path), Size: info.Size(), Open: open})
	return err
}

// status returns a field of /proc/self/status in bytes.
func status(name string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n"+name+":")
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		panic(err)
	}
	return n << 10
}

// costOf reads files concurrently in a separate process.
func costOf(t *testing.T, paths ...string) cost {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), measureVariable+"="+strings.Join(append([]string{cacheDir}, paths...), "\n"))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), errs.String())
	var c cost
	require.NoError(t, json.Unmarshal(out.Bytes(), &c), "%s%s", out.String(), errs.String())
	return c
}

// maxGrowth bounds how much the memory of a host may grow while it reads one document, including
// the bytes of the file.
const maxGrowth = 150 << 20

// TestHostileDocumentGrowth reads each hostile document in a separate process. EASEL_HOSTILE
// selects them, see [hostile.Choose].
func TestHostileDocumentGrowth(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("peak memory is read from /proc")
	}
	for _, f := range hostile.Choose(os.Getenv("EASEL_HOSTILE"), 2) {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), f.Name)
			data := f.Make()
			require.LessOrEqual(t, len(data), LargestFile)
			require.NoError(t, os.WriteFile(path, data, 0o600))
			c := costOf(t, path)
			t.Logf("%d MB in %v: %.120s", c.Growth>>20, c.Took.Round(time.Millisecond), fmt.Sprint(c.Errors))
			require.Less(t, c.Growth, int64(maxGrowth))
		})
	}
}
