package v2_test

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// idleReader opens a stream and returns when its head has arrived.
func idleReader(t *testing.T, s *apitest.Site, path string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: host\r\nAuthorization: Bearer one\r\n\r\n", path)
	require.NoError(t, err)
	head, err := bufio.NewReaderSize(conn, 1024).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, head, "200 OK")
}

// requestTime returns the median time of requests that read a dataset, over longer than readers
// wait between two looks.
func requestTime(t *testing.T, s *apitest.Site, id string) time.Duration {
	t.Helper()
	var all []time.Duration
	for began := time.Now(); time.Since(began) < 1500*time.Millisecond; {
		before := time.Now()
		s.As("one", "GET", "/api/v2/datasets/"+id, "", 200)
		all = append(all, time.Since(before))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// Idle readers of a dataset of 1,000 documents, or of a canvas, do not slow down other requests.
func TestIdleReadersCostNothing(t *testing.T) {
	s := apitest.New(t)
	id, _ := uploaded(s, "one.md", "text")
	stored(t, s, id, 1000, func(*store.Document) {})
	canvas := s.Canvas("c", apitest.Echo)
	for kind, path := range map[string]string{
		"dataset": "/api/v2/datasets/" + id + "/events",
		"canvas":  "/api/v2/canvases/" + canvas + "/events",
	} {
		t.Run(kind, func(t *testing.T) {
			alone := requestTime(t, s, id)
			for range idleReaders {
				idleReader(t, s, path)
			}
			among := requestTime(t, s, id)
			t.Logf("%v alone, %v among %d readers", alone, among, idleReaders)
			require.Less(t, among, 3*alone)
		})
	}
}
