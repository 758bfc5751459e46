package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/easel-canvas/easel/engine"
)

// shapes are texts of the forms that JSON comes in, by name, of about size bytes.
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
		"records":      repeat("[", `{"id":"4f2a0c7d9b5e4c1c","name":"A name","size":12345,"tags":["a","b"],"ok":true}`, "]"),
	}
}

// canvasText is the largest example canvas.
func canvasText(t testing.TB) string {
	files, err := filepath.Glob("../build/examples/*.json")
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob("testdata/*/*.json")
	best := ""
	for _, f := range append(files, more...) {
		if data, err := os.ReadFile(f); err == nil && len(data) > len(best) && strings.Contains(string(data), `"components"`) {
			best = string(data)
		}
	}
	return best
}

func BenchmarkJSON(b *testing.B) {
	texts := shapes(100_000)
	texts["event"] = `{"event":"node_finished","message_id":"4f2a0c7d9b5e4c1c8f0a7b6d5e4f3a2b","task_id":"9c1b","data":{"inputs":{"a":1},"outputs":{"content":"hello world"},"component_id":"Message:A","elapsed_time":0.012}}`
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
