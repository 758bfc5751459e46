package document

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// A document that failed is not parsed again, but the same bytes are parsed as another format.
func TestFailureIsRemembered(t *testing.T) {
	r := newReader(t, Limits{})
	data := docx(t, "<w:p>")
	_, first := r.Text(t.Context(), "a.docx", "", data)
	require.ErrorIs(t, first, ErrDamaged)
	r.Limits.Depth = -1 // every later parse exceeds it
	_, again := r.Text(t.Context(), "b.docx", "", data)
	require.ErrorIs(t, again, ErrDamaged)
	require.Equal(t, first.Error(), again.Error())
	_, other := r.Text(t.Context(), "a.docx", "", docx(t, "<w:p><w:p>"))
	require.ErrorIs(t, other, ErrLimit)

	_, err := r.Text(t.Context(), "a.docx", "", docx(t, "<w:p><w:p>"))
	var over *LimitError
	require.ErrorAs(t, err, &over, "a remembered error has its limit")
	require.Equal(t, LimitDepth, over.Limit)
}

// A canceled read is not remembered as a failure of the document.
func TestCanceledReadIsNotAFailure(t *testing.T) {
	r := newReader(t, Limits{})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	data := docx(t, strings.Repeat("<w:p><w:t>x</w:t></w:p>", 2000))
	_, err := r.Text(ctx, "a.docx", "", data)
	require.ErrorIs(t, err, context.Canceled)
	text, err := r.Text(t.Context(), "a.docx", "", data)
	require.NoError(t, err)
	require.NotEmpty(t, text)
}

func TestFailuresAreBounded(t *testing.T) {
	var f failures
	for i := range maxFailures + 10 {
		f.add(kindText, []byte{byte(i), byte(i >> 8)}, ErrFormat)
	}
	f.add(kindText, []byte("x"), io.ErrUnexpectedEOF)
	require.Len(t, f.known, maxFailures)
	require.NoError(t, f.find(kindText, []byte("x")))
}

// A document releases its memory while it waits for more, so documents cannot deadlock.
func TestMemoryIsReservedAtOnce(t *testing.T) {
	large := docx(t, strings.Repeat("<w:p><w:t>"+strings.Repeat("x", 1000)+"</w:t></w:p>", 4000))
	memory := memlimit.New("documents", 40<<20)
	r := newReader(t, Limits{})
	r.Memory = memory
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := r.Text(t.Context(), "a.docx", "", large); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	require.Zero(t, memory.Used())
}

func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := memlimit.New("documents", 8<<20)
		other := memory.Open()
		require.NoError(t, other.Grow(8<<20))
		r := &Reader{Memory: memory}
		start := time.Now()
		_, err := r.Text(t.Context(), "a.txt", "", []byte("text"))
		require.ErrorIs(t, err, ErrBusy)
		require.Equal(t, time.Minute, time.Since(start))
		_, permanent := FailureOf(err)
		require.False(t, permanent)

		time.AfterFunc(time.Second, other.Close)
		text, err := r.Text(t.Context(), "a.txt", "", []byte("text"))
		require.NoError(t, err)
		require.Equal(t, "text", text)
	})
}

// Too little memory on the host is reported as such and not remembered as a failure of the
// document.
func TestHostMemoryTooSmall(t *testing.T) {
	r := newReader(t, Limits{})
	r.Memory = memlimit.New("documents", 2<<20)
	for name, data := range map[string][]byte{
		"the file":    []byte(strings.Repeat("x", 3<<20)),
		"its content": xlsx(t, "", "xl/sharedStrings.xml", "<sst>"+strings.Repeat("<si/>", 1<<20)+"</sst>"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.Text(t.Context(), "", "", data)
			var over *LimitError
			require.ErrorAs(t, err, &over)
			require.Equal(t, LimitHost, over.Limit)
			_, permanent := FailureOf(err)
			require.False(t, permanent)
		})
	}
	require.Zero(t, r.Memory.Used())
}

func TestFailingSource(t *testing.T) {
	gone := errors.New("gone")
	r := newReader(t, Limits{})
	_, err := r.Read(t.Context(), Source{
		Size: 1 << 20,
		Open: func(context.Context) (io.ReadCloser, error) { return nil, gone },
	})
	require.ErrorIs(t, err, gone)
	_, err = r.Read(t.Context(), Source{Size: 2 << 20, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("short")), nil
	}})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}
