package engine_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// shapes returns texts of the forms that JSON comes in, by name, of about size bytes.
func shapes(size int) map[string]string {
	repeat := func(open, one, end string) string {
		return open + strings.Repeat(one+",", max(1, size/(len(one)+1))) + one + end
	}
	keys := func(format, value string) string {
		var b strings.Builder
		b.WriteByte('{')
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format+":"+value+",", i)
		}
		return b.String() + `"end":0}`
	}
	deep := strings.Repeat("[", 400) + strings.Repeat("]", 400)
	return map[string]string{
		"numbers":      repeat("[", "0", "]"),
		"empty lists":  repeat("[", "[]", "]"),
		"lists of one": repeat("[", "[0]", "]"),
		"objects":      repeat("[", `{"a":0}`, "]"),
		"unique keys":  keys(`"%x"`, "0"),
		"same key":     repeat("{", `"a":0`, "}"),
		"deep":         repeat("[", deep, "]"),
		"nul escapes":  `["` + strings.Repeat(`\u0000`, size/6) + `"]`,
		"one escape":   `["\n` + strings.Repeat(`x`, size) + `"]`,
		"short texts":  repeat("[", `"\n"`, "]"),
		"not UTF-8":    `["` + strings.Repeat("\xffa", size/2) + `"]`,
		"Chinese":      `["` + strings.Repeat("你好", size/6) + `"]`,
		"plain text":   `["` + strings.Repeat("x", size) + `"]`,
		"records": repeat("[", `{"id":"4f2a0c7d9b5e4c1c","name":"A name","size":12345,"tags":["a","b"],"ok":true}`,
			"]"),
	}
}

// allocated returns the number of bytes a function allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// Every byte that parsing allocates is reserved before. The reservation is not much larger than the
// allocation, or requests that fit would be refused.
func TestParsingReservesWhatItAllocates(t *testing.T) {
	for name, text := range shapes(1 << 20) {
		var reserved int64
		var v engine.Value
		used := allocated(func() {
			var err error
			v, err = engine.ParseJSONReserving(text, func(n int64) error { reserved += n; return nil })
			require.NoError(t, err)
		})
		t.Logf("%-12s %8d bytes of text, %9d reserved, %9d allocated", name, len(text), reserved, used)
		require.LessOrEqual(t, used, reserved+reserved/8+4096, name)
		require.LessOrEqual(t, reserved, 4*used+4096, name)
		require.True(t, v.Len() > 0)
	}
}

// A text whose values are too many is refused before they are allocated.
func TestParsingStopsAtItsReservation(t *testing.T) {
	full := errors.New("full")
	for name, text := range shapes(4 << 20) {
		const most = 256 << 10
		left := int64(most)
		reserve := func(n int64) error {
			if n > left {
				return full
			}
			left -= n
			return nil
		}
		var err error
		used := allocated(func() { _, err = engine.ParseJSONReserving(text, reserve) })
		require.LessOrEqual(t, used, int64(most+most/8+4096), name)
		if name != "plain text" && name != "Chinese" {
			require.ErrorIs(t, err, full, name)
		}
	}
}

// canvasText returns an example canvas.
func canvasText(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("../web/examples/tea-house.json")
	require.NoError(t, err)
	return string(data)
}

func BenchmarkJSON(b *testing.B) {
	texts := shapes(100_000)
	texts["event"] = `{"event":"node_finished","message_id":"4f2a0c7d9b5e4c1c8f0a7b6d5e4f3a2b","task_id":"9c1b",` +
		`"data":{"inputs":{"a":1},"outputs":{"content":"hello world"},"component_id":"Message:A","elapsed_time":0.012}}`
	texts["canvas"] = canvasText(b)
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := engine.ParseJSONText(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
