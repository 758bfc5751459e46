package plugin

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
)

// chain makes the requests of its input, one per line, in one call, and returns the answers, one
// per line. An answer may be as long as 1.5 MB.
const chain = `(module` + importAll + `
	(data (i32.const 9) "\0a")
	(func (export "easel_invoke") (result i32) (local $at i32) (local $n i32) (local $end i32)
		i32.const 30 memory.grow drop
		i32.const 10 i32.const 10 i32.const 50000 call $input_read i32.add local.set $end
		i32.const 10 local.set $at
		loop $line
			local.get $at local.set $n
			loop $find
				local.get $n i32.load8_u i32.const 10 i32.ne if local.get $n i32.const 1 i32.add local.set $n br $find end
			end
			i32.const 0 local.get $at local.get $n local.get $at i32.sub call $call drop
			i32.const 65536 i32.const 65536 i32.const 1500000 call $result_read call $output_write
			i32.const 9 i32.const 1 call $output_write
			local.get $n i32.const 1 i32.add local.tee $at local.get $end i32.lt_u br_if $line
		end
		i32.const 0))`

// asked plays requests in one call.
func asked(t *testing.T, m *Module, services Services, requests ...string) []json.RawMessage {
	t.Helper()
	res, err := m.Call(context.Background(), CallRequest{Input: []byte(strings.Join(requests, "\n") + "\n"), SecretMark: callMark, Services: services})
	require.NoError(t, err)
	var out []json.RawMessage
	for _, line := range bytes.Split(bytes.TrimSpace(res.Output), []byte("\n")) {
		out = append(out, line)
	}
	require.Len(t, out, len(requests))
	return out
}

// pieced is an answer of http.fetch or http.read.
type pieced struct {
	OK struct {
		Stream     int
		Status     int
		Headers    map[string]string
		Body       *string
		BodyBase64 *string `json:"body_base64"`
		Done       bool
	}
	Error *contract.Error
}

func (p pieced) bytes(t *testing.T) []byte {
	t.Helper()
	switch {
	case p.OK.Body != nil:
		return []byte(*p.OK.Body)
	case p.OK.BodyBase64 != nil:
		b, err := base64.StdEncoding.DecodeString(*p.OK.BodyBase64)
		require.NoError(t, err)
		return b
	}
	return nil
}

func decoded(t *testing.T, raw json.RawMessage) (p pieced) {
	t.Helper()
	require.NoError(t, json.Unmarshal(raw, &p), string(raw))
	return p
}

var streaming = map[string]any{
	"limits": map[string]any{"output_kb": 16 << 10, "memory_mb": 8},
	"permissions": map[string]any{
		"http":    map[string]any{"hosts": []string{"good.example"}, "private": true, "reason": "r"},
		"secrets": map[string]any{"KEY": map[string]any{"hosts": []string{"*"}, "plain": true, "reason": "r"}},
	},
}

func TestStreamGivesTheBodyInPieces(t *testing.T) {
	text := strings.Repeat("Ålesund 天气 🌧 ", 60_000)
	binary := bytes.Repeat([]byte{0xff, 0, 1, 2, 3}, 100_000)
	w := newWeb(t)
	w.Handle("/text", func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, text) })
	w.Handle("/bytes", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(binary) })
	w.Handle("/empty", func(http.ResponseWriter, *http.Request) {})
	m := load(t, newHost(t, Config{Resolve: w.resolve}), chain, streaming)
	for path, want := range map[string]string{"/text": text, "/bytes": string(binary), "/empty": ""} {
		for _, most := range []int{0, 1, 1000, 1 << 30} {
			t.Run(fmt.Sprintf("%s max %d", path, most), func(t *testing.T) {
				requests := []string{fmt.Sprintf(`{"op":"http.fetch","args":{"url":"%s","stream":true}}`, w.at("good.example", path))}
				for range 700 {
					requests = append(requests, fmt.Sprintf(`{"op":"http.read","args":{"stream":1,"max":%d}}`, most))
				}
				all := asked(t, m, Services{}, requests...)
				head := decoded(t, all[0])
				require.Nil(t, head.Error)
				require.Equal(t, 1, head.OK.Stream)
				require.Equal(t, 200, head.OK.Status)
				require.Nil(t, head.OK.Body)
				var got []byte
				done := false
				for i, raw := range all[1:] {
					p := decoded(t, raw)
					if done {
						require.Equal(t, contract.NotFound, p.Error.Code, "a stream that was read to its end is closed")
						continue
					}
					require.Nil(t, p.Error, "piece %d", i)
					piece := p.bytes(t)
					done = p.OK.Done
					require.True(t, done || len(piece) > 0, "a piece has at least one byte")
					require.LessOrEqual(t, len(piece), max(minPiece, min(most, maxPiece))+defPiece*b2i(most == 0))
					if path == "/text" {
						require.NotNil(t, p.OK.Body, "text stays text: pieces end with whole characters")
					}
					got = append(got, piece...)
				}
				if done {
					require.True(t, want == string(got))
				} else {
					require.True(t, strings.HasPrefix(want, string(got)))
					require.Less(t, most*700*b2i(most > 0), len(want), "700 pieces were too few")
				}
			})
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestStreamGivesWhatHasArrived(t *testing.T) {
	w := newWeb(t)
	more := make(chan string)
	w.Handle("/drip", func(rw http.ResponseWriter, r *http.Request) {
		for {
			_ = http.NewResponseController(rw).Flush() // the head first
			select {
			case text := <-more:
				if _, err := io.WriteString(rw, text); err != nil || text == "" {
					return
				}
			case <-r.Context().Done():
				return
			}
		}
	})
	m := load(t, newHost(t, Config{Resolve: w.resolve}), chain, streaming)
	go func() {
		for _, text := range []string{"one", "two", ""} {
			more <- text
		}
	}()
	read := `{"op":"http.read","args":{"stream":1}}`
	all := asked(t, m, Services{}, fmt.Sprintf(`{"op":"http.fetch","args":{"url":%q,"stream":true}}`, w.at("good.example", "/drip")), read, read, read)
	var got []string
	for _, raw := range all[1:] {
		got = append(got, string(decoded(t, raw).bytes(t)))
	}
	require.Contains(t, []string{"one|two|", "onetwo||"}, strings.Join(got, "|"), "no piece waits for a full buffer")
}

func TestStreamsAreBounded(t *testing.T) {
	w := newWeb(t)
	hung := make(chan struct{}, 100)
	w.Handle("/endless", func(rw http.ResponseWriter, r *http.Request) {
		defer func() { hung <- struct{}{} }()
		for r.Context().Err() == nil {
			if _, err := rw.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	m := load(t, newHost(t, Config{Resolve: w.resolve}), chain, streaming)
	open := fmt.Sprintf(`{"op":"http.fetch","args":{"url":%q,"stream":true}}`, w.at("good.example", "/endless"))
	t.Run("only so many are open", func(t *testing.T) {
		requests := make([]string, 0, maxStreams+3)
		for range maxStreams + 1 {
			requests = append(requests, open)
		}
		requests = append(requests, `{"op":"http.close","args":{"stream":1}}`, open)
		all := asked(t, m, Services{}, requests...)
		require.Equal(t, contract.Denied, decoded(t, all[maxStreams]).Error.Code)
		require.Contains(t, decoded(t, all[maxStreams]).Error.Message, "close one")
		require.Nil(t, decoded(t, all[maxStreams+2]).Error)
		late := time.After(patience)
		for range maxStreams + 1 {
			select {
			case <-hung: // the host closed the streams that the guest left open
			case <-late:
				t.Fatal("a stream outlived its call")
			}
		}
	})
	t.Run("a stream is not for other calls", func(t *testing.T) {
		asked(t, m, Services{}, open)
		require.Equal(t, contract.NotFound, decoded(t,
			asked(t, m, Services{}, `{"op":"http.read","args":{"stream":1}}`)[0]).Error.Code)
	})
	t.Run("wrong arguments", func(t *testing.T) {
		all := asked(t, m, Services{}, open, `{"op":"http.read","args":{"stream":1,"max":-1}}`, `{"op":"http.read","args":{"stream":"1"}}`, `{"op":"http.close","args":{"stream":9}}`)
		require.Equal(t, contract.InvalidArgument, decoded(t, all[1]).Error.Code)
		require.Equal(t, contract.InvalidArgument, decoded(t, all[2]).Error.Code)
		require.Nil(t, decoded(t, all[3]).Error, "closing what is not open is no error")
	})
	t.Run("pieces are counted", func(t *testing.T) {
		r := &requests{g: &guest{m: m}}
		r.streams.pieces = maxPieces
		require.PanicsWithError(t, "plugin too_many_calls: more than 10000 pieces of streams",
			func() { _, _ = r.answer([]byte(`{"op":"http.read","args":3}`)) })
	})
	t.Run("pieces are not counted as host calls", func(t *testing.T) {
		requests := []string{open}
		for range maxHostCalls + 10 {
			requests = append(requests, `{"op":"http.read","args":{"stream":1,"max":9}}`)
		}
		all := asked(t, m, Services{}, requests...)
		require.Nil(t, decoded(t, all[len(all)-1]).Error)
	})
	t.Run("bytes are counted", func(t *testing.T) {
		read := int64(maxStreamed - 1)
		s := &stream{t: &trip{stop: func() {}}, bytes: &read, body: io.NopCloser(strings.NewReader("xx"))}
		_, e := s.next(100)
		require.Equal(t, contract.Upstream, e.Code)
	})
	t.Run("a body that breaks off is an error", func(t *testing.T) {
		body := io.NopCloser(io.MultiReader(strings.NewReader("ab"), broken{}))
		s := &stream{t: &trip{ctx: context.Background(), stop: func() {}}, bytes: new(int64), body: body}
		got, e := s.next(100)
		require.Nil(t, e)
		require.Equal(t, "ab", string(got))
		_, e = s.next(100)
		require.Equal(t, contract.Upstream, e.Code)
		require.Contains(t, e.Message, "gone")
	})
	t.Run("a slow piece does not outlast the deadline", func(t *testing.T) {
		input := fmt.Sprintf("{\"op\":\"http.fetch\",\"args\":{\"url\":%q,\"stream\":true}}\n{\"op\":\"http.read\",\"args\":{\"stream\":1}}\n", w.at("good.example", "/hang"))
		_, err := m.Call(context.Background(), CallRequest{Input: []byte(input), Timeout: 200 * time.Millisecond})
		require.ErrorIs(t, err, contract.Timeout)
	})
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("gone") }

func TestStreamMasksSecretsAcrossPieces(t *testing.T) {
	w := newWeb(t)
	w.Handle("/leak", func(rw http.ResponseWriter, r *http.Request) {
		for _, c := range "before " + r.Header.Get("X-Key") + " after" {
			_, _ = io.WriteString(rw, string(c))
			_ = http.NewResponseController(rw).Flush()
		}
	})
	m := load(t, newHost(t, Config{Resolve: w.resolve}), chain, streaming)
	requests := []string{fmt.Sprintf(`{"op":"http.fetch","args":{"url":%q,"stream":true,"headers":{"X-Key":"{{secret:KEY:m4rk}}"}}}`, w.at("good.example", "/leak"))}
	for range 40 {
		requests = append(requests, `{"op":"http.read","args":{"stream":1}}`)
	}
	got := ""
	for _, raw := range asked(t, m, Services{Secrets: keys{"KEY": "hunter2-hunter2"}}, requests...) {
		got += string(decoded(t, raw).bytes(t))
	}
	require.Equal(t, "before *** after", got)
}

// FuzzStream cuts a body with a secret in it at any place: what is given is the masked body, whole
// characters stay whole, and nothing of the secret is left.
func FuzzStream(f *testing.F) {
	f.Add([]byte("before hunter2 after"), "hunter2", 3, 16)
	f.Add([]byte("Ålesund \xff天气"), "x", 1, 100)
	f.Add([]byte("aHVudGVyMg== and %61"), "a", 2, 20)
	f.Fuzz(func(t *testing.T, body []byte, secret string, step, most int) {
		if len(secret) < 4 || len(body) > 1<<16 || strings.Contains(secret, "*") {
			return
		}
		tr := &trip{stop: func() {}}
		tr.used.add(secret)
		s := &stream{
			t: tr, bytes: new(int64),
			body: io.NopCloser(&stepped{bytes.NewReader(body), 1 + (step&0x7fffffff)%999}),
		}
		var got []byte
		for !s.ended || len(s.pending) > 0 {
			piece, e := s.next(max(minPiece, min(most, 4096)))
			require.Nil(t, e)
			if utf8.Valid(body) && utf8.ValidString(secret) {
				require.True(t, utf8.Valid(piece))
			}
			got = append(got, piece...)
		}
		require.NotContains(t, string(got), secret)
		if whole := tr.used.mask(bytes.Clone(body)); !bytes.Contains(whole, []byte(masked)) {
			require.True(t, bytes.Equal(body, got))
		}
	})
}

// stepped reads n bytes at a time.
type stepped struct {
	r io.Reader
	n int
}

func (s *stepped) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), s.n)]) }
