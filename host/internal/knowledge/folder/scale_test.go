//go:build linux

package folder

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// TestScale takes in a folder of EASEL_SCALE_MB megabytes of Markdown in files of 100 KB and
// reports the memory of the process after each eighth of them, which is to be flat.
func TestScale(t *testing.T) {
	megabytes, err := strconv.Atoi(os.Getenv("EASEL_SCALE_MB"))
	if err != nil {
		t.Skip("EASEL_SCALE_MB is not set")
	}
	const size = 100_000
	root, rng, count := t.TempDir(), rand.New(rand.NewPCG(1, 2)), megabytes*10
	for i := range count {
		write(t, root, fmt.Sprintf("a/%d.md", i), markdown(rng, size))
	}
	reader := &document.Reader{}
	t.Cleanup(func() { require.NoError(t, reader.Close()) })
	c := &sampledCutter{Cutter: ingest.DocumentCutter{Reader: reader}, t: t, every: max(1, count/8)}
	began := servertest.ProcessorTime()
	f := opened(t, Config{Root: root, Dir: t.TempDir(), Cutter: c, Poll: -1, Wait: -1})
	require.NoError(t, f.Await(t.Context()))
	took := servertest.ProcessorTime() - began
	documents, chunks := f.count()
	require.Equal(t, count, documents)
	t.Logf("%d documents, %d chunks: %.1f MB a processor second", documents, chunks,
		float64(megabytes)/took.Seconds())
}

// sampledCutter reports the memory of the process at every so many documents.
type sampledCutter struct {
	ingest.Cutter
	t     *testing.T
	every int
	seen  atomic.Int64
}

func (c *sampledCutter) Cut(ctx context.Context, in ingest.Input) iter.Seq2[ingest.Piece, error] {
	if n := int(c.seen.Add(1)); n%c.every == 0 {
		text, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			c.t.Error(err)
		}
		pages, _ := strconv.Atoi(strings.Fields(string(text))[1]) // a number, or else 0 is shown
		c.t.Logf("%d documents: %d MB resident", n, pages*os.Getpagesize()>>20)
	}
	return c.Cutter.Cut(ctx, in)
}

// markdown is a document of about n bytes whose words are as unevenly frequent as in a language.
func markdown(rng *rand.Rand, n int) string {
	zipf := rand.NewZipf(rng, 1.2, 8, 30_000)
	var b strings.Builder
	for b.Len() < n {
		b.WriteString("## section\n\n")
		for range 40 {
			b.WriteString("w" + strconv.FormatUint(zipf.Uint64(), 36) + " ")
		}
		b.WriteString("\n\n")
	}
	return b.String()
}
