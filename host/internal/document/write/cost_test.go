package write

import (
	"runtime"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Texts of many pieces are refused before they are parsed; the files of others stay within the
// estimate that is reserved for it.
func TestMemoryOfFiles(t *testing.T) {
	row := "|1|2|3|4|5|6|7|8|9|0|\n"
	for name, text := range map[string]string{
		"a million cells": strings.Repeat("|a|b|c|d|e|f|g|h|i|j|\n|-|-|-|-|-|-|-|-|-|-|\n"+
			strings.Repeat(row, 5000)+"\n", 20),
		"items":      strings.Repeat("- a\n", 1<<20),
		"headings":   strings.Repeat("# a\n", 1<<20),
		"paragraphs": strings.Repeat("a\n\n", Most/3),
		"emphasis":   strings.Repeat("**a** b\n\n", Most/9),
	} {
		for _, format := range []string{"html", "docx", "xlsx", "pdf"} {
			_, err := Make(format, text)
			require.ErrorIs(t, err, ErrPieces, "%s as %s", name, format)
		}
	}
	for name, text := range map[string]string{
		"cells": strings.Repeat("|a|b|c|d|e|f|g|h|i|j|\n|-|-|-|-|-|-|-|-|-|-|\n"+strings.Repeat(row, 2400)+"\n",
			2),
		"items":       strings.Repeat("- a\n", 20_000),
		"bad letters": strings.Repeat("\xffa", Most/8),
		"ampersands":  strings.Repeat("&", Most/4),
	} {
		for _, format := range []string{"html", "docx", "xlsx", "pdf"} {
			// A busy machine collects later and finds more: the least of a few counts.
			bound := Memory(format, text) * 3 / 2
			most := bound
			for tries := 0; tries < 5 && most >= bound; tries++ {
				most = peak(t, func() {
					_, err := Make(format, text)
					require.NoError(t, err)
				})
			}
			t.Logf("%s as %s: %d MB of %d MB", name, format, most>>20, Memory(format, text)>>20)
			// What is allocated while the collector runs counts as live, hence half of it more.
			require.Less(t, most, bound, "%s as %s", name, format)
		}
	}
}

// peak returns the number of bytes the live heap grows by at most while f runs, as the collector
// finds it.
func peak(t *testing.T, f func()) int64 {
	t.Helper()
	live := func() int64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	runtime.GC()
	before, most := live(), int64(0)
	var ended atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !ended.Load() {
			runtime.GC()
			most = max(most, live()-before)
		}
	}()
	f()
	ended.Store(true)
	<-done
	return most
}
