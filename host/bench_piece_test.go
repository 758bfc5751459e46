package host

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stampedModel answers with words that have the time at which they were sent, in nanoseconds.
func stampedModel(b *testing.B, words int) *httptest.Server {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		out := http.NewResponseController(w)
		for range words {
			time.Sleep(5 * time.Millisecond)
			_, _ = fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":"T%d "}}]}`+"\n\n",
				time.Now().UnixNano())
			_ = out.Flush()
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}))
	b.Cleanup(s.Close)
	return s
}

var stamp = regexp.MustCompile(`T(\d{19}) `)

// waitsOf returns how long ago so many words that arrive were sent.
func waitsOf(b *testing.B, body io.Reader, words int) (waits []time.Duration) {
	b.Helper()
	in := bufio.NewReader(body)
	for len(waits) < words {
		line, err := in.ReadString('\n')
		for _, m := range stamp.FindAllStringSubmatch(line, -1) {
			sent, err := strconv.ParseInt(m[1], 10, 64)
			require.NoError(b, err)
			waits = append(waits, time.Since(time.Unix(0, sent)))
		}
		require.NoError(b, err)
	}
	return waits // the whole text follows
}

// BenchmarkPiece is the time from a word of a model server to the reader of the run: two
// connections and the host between them. The floor is one connection without a host.
func BenchmarkPiece(b *testing.B) {
	const words = 400
	model := stampedModel(b, words)
	report := func(b *testing.B, waits []time.Duration) {
		b.Helper()
		require.Len(b, waits, words)
		b.ReportMetric(percentile(waits, 50), "p50-ms")
		b.ReportMetric(percentile(waits, 99), "p99-ms")
		b.ReportMetric(float64(waits[0].Microseconds())/1000, "first-ms")
		b.ReportMetric(0, "ns/op")
	}
	b.Run("floor=no-host", func(b *testing.B) {
		res, err := http.Post(model.URL, "application/json", nil)
		require.NoError(b, err)
		defer res.Body.Close()
		report(b, waitsOf(b, res.Body, words))
	})
	for _, sync := range []Sync{SyncInterval, SyncContract} {
		b.Run("sync="+string(sync), func(b *testing.B) {
			s := serveProgram(b, model.URL+"/v1", "--sync", string(sync))
			request := s.request(s.create(b, modelCanvas))
			c, err := s.dial()
			require.NoError(b, err)
			defer c.conn.Close()
			require.NoError(b, c.begin(request))
			report(b, waitsOf(b, c.body, words))
		})
	}
}
