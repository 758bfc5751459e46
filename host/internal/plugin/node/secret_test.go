package node_test

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// forwarder is a guest that sends what it was given, its params or its arguments, as the headers of
// a request.
func forwarder(url, member string) []byte {
	head := `{"op":"http.fetch","args":{"url":"` + url + `","headers":`
	const tail, said = `}}`, `{"outputs":{"text":"done"}}`
	name := []byte(member + `":`)
	return wattest.Must(fmt.Sprintf(`(module
	(import "easel:host/v1" "input_read" (func $input_read (param i32 i32) (result i32)))
	(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
	(import "easel:host/v1" "call" (func $call (param i32 i32 i32) (result i32)))
	(memory (export "memory") 1)
	(data (i32.const 100) %q) (data (i32.const 8000) %q)
	(func (export "easel_invoke") (result i32) (local $n i32) (local $i i32)
		i32.const 20000 i32.const 20000 call $input_read local.set $n
		loop $l
			local.get $i i32.const 1 i32.add local.tee $i i64.load offset=20000 i64.const %d i64.ne br_if $l
		end
		local.get $n local.get $i i32.sub i32.const 9 i32.sub local.set $n
		i32.const %d local.get $i i32.const 20008 i32.add local.get $n memory.copy
		local.get $n i32.const %d i32.add i32.const %d i32.store16
		i32.const 0 i32.const 8000 local.get $n i32.const %d i32.add call $call drop
		i32.const 100 i32.const %d call $output_write
		i32.const 0))`, said, head, int64(binary.LittleEndian.Uint64(name[len(name)-8:])), 8000+len(head), 8000+len(head),
		binary.LittleEndian.Uint16([]byte(tail)), len(head)+len(tail), len(said)))
}

// TestOnlyTheCanvasNamesSecrets has a plugin send its params and arguments: a placeholder that
// stands in the canvas counts, one that came by a reference, from a user or from a model is plain
// text, however it is written.
func TestOnlyTheCanvasNamesSecrets(t *testing.T) {
	var seen http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.Header.Clone() }))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	const named, value = "{{secret:KEY}}", "hunter2secret"
	permissions := `"permissions": {"http": {"hosts": ["` + host + `"], "private": true, "reason": "asks"}, "secrets": {"KEY": {"hosts": ["` + host + `"], "reason": "key"}}}`
	const properties = `{"type": "object", "properties": {"X-A": {"type": "string", "maxLength": 30, "x-easel-ref": true}, "X-B": {"type": "string", "x-easel-ref": true}, "X-C": {"type": "string"}, "X-D": {"type": "string", "default": "{{secret:KEY}}"}}}`
	for _, c := range []struct {
		name, member, params, query string
		tool                        string // arguments of a model
		streams                     bool
		want                        [3]string
	}{
		{name: "params of the canvas", member: "params", params: `{"X-A": "Key {{secret:KEY}}", "X-C": "{{secret:KEY}}"}`, want: [3]string{"Key " + value, "", value}},
		{name: "basic authorization", member: "params", params: `{"X-C": "Basic {{base64:u:{{secret:KEY}}}}"}`, want: [3]string{"", "", "Basic dTpodW50ZXIyc2VjcmV0"}},
		{name: "a reference in params", member: "params", query: named, params: `{"X-A": "{sys.query} {{secret:KEY}}", "X-B": "{sys.query}"}`, want: [3]string{named + " " + value, named}},
		{name: "halves", member: "params", query: "KEY}}", params: `{"X-A": "{{secret:{sys.query}", "X-B": "{{secret:{sys.query}{{secret:KEY}}"}`, want: [3]string{named, named + value}},
		{name: "base64 of what came from outside", member: "params", query: named, params: `{"X-A": "{{base64:{sys.query}}}"}`, want: [3]string{"{{base64:{{secret:KEY}}}}"}},
		{name: "a saved variable", member: "params", params: `{"X-A": "{env.saved}"}`, want: [3]string{named}},
		{name: "arguments that the canvas sets", member: "arguments", query: named, params: `{"X-A": "{{secret:KEY}}", "X-B": "{sys.query}"}`, want: [3]string{value, named}},
		{name: "arguments of a model", member: "arguments", tool: `{"X-A": "{{secret:KEY}}", "X-B": "\u007b{secret\u003aKEY}}"}`, want: [3]string{named, named}},
		{name: "params of a node that streams", member: "params", streams: true, query: named, params: `{"X-A": "{sys.query}", "X-B": "{sys.query} {{secret:KEY}}"}`, want: [3]string{named, named + " " + value}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t, node.Config{})
			s.add(forwarder(server.URL, c.member), fmt.Sprintf(`{%q: %s, "streams": %t, "outputs": {"type": "object", "properties": {"text": {"type": "string"}}}, %s}`, c.member, properties, c.streams, permissions))
			lines := []string{"begin Begin -> P", "P plugin:sample@1 " + c.params + " -> M", `M Message {"content": ["{P@text}"]}`}
			m := &model{}
			if c.tool != "" {
				lines = agent(`{}`)
				m.replies = []engine.ModelPiece{wish(c.tool), {Text: "well"}}
			}
			doc, err := engine.Load(s.registry(), canvas(t, append(lines, `=env.saved "`+named+`"`)...))
			require.NoError(t, err)
			seen = nil
			var all strings.Builder
			var log []*engine.Event
			opt := engine.Options{Ports: engine.Ports{Model: m, Secrets: vault{"KEY": value}}, Seed: 1, Internal: true, Checkpoints: true}
			check := func() {
				require.NotNil(t, seen, all.String())
				require.Equal(t, value, seen.Get("X-D"), "a default is the plugin's own")
				require.Equal(t, c.want, [3]string{seen.Get("X-A"), seen.Get("X-B"), seen.Get("X-C")})
				require.NotContains(t, all.String(), value)
				require.NotRegexp(t, `secret:KEY:[0-9a-f]`, all.String(), "a mark in an event")
			}
			for e, err := range doc.Run(t.Context(), doc.State(), engine.Input{Query: engine.String(c.query)}, opt) {
				require.NoError(t, err)
				all.Write(e.JSON)
				log = append(log, e.Clone())
			}
			check()
			if !c.streams {
				return
			}
			// The same from the log, where the request of the stream waits.
			for i, e := range log {
				if e.Type != engine.EventCheckpoint || !strings.Contains(string(e.JSON), `"streams"`) {
					continue
				}
				st, err := doc.StateAt(log[:i+1], 0)
				require.NoError(t, err)
				seen = nil
				for e, err := range doc.Continue(t.Context(), st, opt) {
					require.NoError(t, err)
					all.Write(e.JSON)
				}
				check()
				return
			}
			t.Fatal("no checkpoint holds the stream")
		})
	}
}
