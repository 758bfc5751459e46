package backup

import (
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/brokertest"
)

// peak records the most memory that is in use when an archive is written.
type peak struct{ largest int64 }

func (p *peak) Write(b []byte) (int, error) {
	inUse, _ := memoryInUse()
	p.largest = max(p.largest, inUse)
	return len(b), nil
}

// A backup bounds the memory of a host whose heap is large already. Go collects garbage when the
// heap has doubled, and NATS loads blocks of up to 8 MB to read uploaded files.
func TestBackupBoundsTheHeap(t *testing.T) {
	const files, size, allowed = 24, 4 << 20, 60 << 20
	s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	defer s.Close()
	uploads, err := blobs.New(t.Context(), brokertest.Open(t, broker.Config{}))
	require.NoError(t, err)
	content := rand.NewChaCha8([32]byte{})
	for i := range files {
		_, err := uploads.Put(t.Context(), "tenant/"+strconv.Itoa(i), io.LimitReader(content, size))
		require.NoError(t, err)
	}
	held := make([]byte, 256<<20) // what the host has in memory
	for range 3 {
		debug.FreeOSMemory() // also empties pools
	}
	before, _ := memoryInUse()
	var p peak
	require.NoError(t, Write(t.Context(), &p, Source{Store: s, Files: uploads}))
	runtime.KeepAlive(held)
	t.Logf("%d MB, at most %d MB", before>>20, p.largest>>20)
	require.Less(t, p.largest, before+allowed)
}
