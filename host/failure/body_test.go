package failure_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// hostileBodies sends bodies that expand to many times their size to every class of route, with and
// without a key, 16 at once. The host may use 1 GiB; it stays below 600 MB, and logins and runs
// succeed throughout.
func hostileBodies(t *testing.T, bin programs) {
	const memory = 1 << 30
	w := embedded(t, bin)
	h := w.start("a", "--memory", strconv.Itoa(memory))
	t.Logf("in a control group: %v", confine(t, h, memory))
	canvas := w.canvas(hello)
	login := func() string {
		answer := w.post(h.url+"/v1/user/login", `{"email":"x@x.org","password":"`+w.key+`"}`)
		return answer.text
	}
	start := func() int {
		return w.post(h.url+"/api/v2/canvases/"+canvas+"/runs", `{"query":"x"}`).status
	}
	require.Contains(t, login(), `"code":0`)

	attack, over := context.WithCancel(t.Context())
	var users sync.WaitGroup
	var slowest atomic.Int64
	answered := 0
	users.Go(func() {
		for attack.Err() == nil {
			began := time.Now()
			// Logins are limited to ten at once and one per second.
			if answered%8 == 0 && !assert.Contains(t, login(), `"code":0`) ||
				!assert.Equal(t, http.StatusAccepted, start()) {
				return
			}
			slowest.Store(max(slowest.Load(), int64(time.Since(began))))
			answered++
			select {
			case <-time.After(200 * time.Millisecond):
			case <-attack.Done():
			}
		}
	})
	sent, refused := w.attackBodies(h, canvas)
	over()
	users.Wait()
	require.Contains(t, login(), `"code":0`)
	require.Equal(t, http.StatusAccepted, start())
	peak := servertest.PeakMemory(t, h.PID())
	t.Logf(
		"%d hostile requests, %v; %d answered meanwhile, the slowest after %s; peak %d MB",
		sent,
		refused,
		answered,
		time.Duration(slowest.Load()),
		peak/1e6,
	)
	require.Positive(t, answered)
	require.Less(t, peak, int64(600e6))
}

// hostileText is JSON, or a form, of about a given size, with a repeated text in the middle.
type hostileText struct {
	kind              string
	open, middle, end string
	numbered          bool // %d in the middle is its number
}

var hostileTexts = map[string]hostileText{
	"numbers": {"application/json", `{"query":"x","dsl":{"a":[`, `0,`, `0]}}`, false},
	"lists":   {"application/json", `{"query":"x","inputs":{"a":[`, `[],`, `[]]}}`, false},
	"objects": {"application/json", `{"query":"x","inputs":{"a":[`, `{"a":[0]},`, `0]}}`, false},
	"keys":    {"application/json", `{"query":"x","inputs":{`, `"%d":0,`, `"a":0}}`, true},
	"escapes": {"application/json", `{"query":"`, `\u0000`, `"}`, false},
	"nested": {
		"application/json",
		`{"query":"x","messages":[`,
		strings.Repeat("[", 480) + strings.Repeat("]", 480) + ",",
		`0]}`,
		false,
	},
	"one text": {"application/json", `{"title":"x","query":"`, `xxxxxxxxxxxxxxxx`, `"}`, false},
	"parts": {
		"multipart/form-data; boundary=b",
		"",
		"--b\r\nContent-Disposition: form-data; name=\"%d\"\r\n\r\nv\r\n",
		"--b--\r\n",
		true,
	},
	"fields": {"application/x-www-form-urlencoded", "", "%d&", "", true},
}

// attackBodies sends every text to every class of route and returns the number of requests and the
// statuses of the answers.
func (w *world) attackBodies(h *hostProcess, canvas string) (sent int, answers map[int]int) {
	hook := w.canvas(sketch.Canvas(
		`begin Begin {"mode":"Webhook",
		"security":{"auth_type":"none","allow_anonymous":true,"rate_limit":{"limit":100000,"per":"second"}}}`,
	))
	type request struct {
		path string
		text hostileText
		key  string
		size int
		told bool // its length, in the header
	}
	var all []request
	for _, path := range []string{
		"/v1/user/login", "/login", "/api/v2/keys", "/api/v2/schedules", "/v1/canvas/set",
		"/api/v2/canvases/" + canvas + "/runs",
		"/api/llm/chat/completions", "/v1/canvas/upload/" + canvas, "/api/v1/webhook/" + hook,
	} {
		for _, text := range hostileTexts {
			for _, size := range []int{1 << 20, 10 << 20, 32 << 20} {
				all = append(all, request{path, text, w.key, size, size != 10<<20})
			}
			all = append(all, request{path, text, "", 32 << 20, len(all)%8 > 3})
		}
	}
	answers = map[int]int{}
	var mu sync.Mutex
	var workers sync.WaitGroup
	next := make(chan request)
	for range 16 {
		workers.Go(func() {
			for r := range next {
				status := w.sendHostile(h.url+r.path, r.text, r.key, r.size, r.told)
				mu.Lock()
				answers[status]++
				mu.Unlock()
			}
		})
	}
	for _, r := range all {
		next <- r
	}
	close(next)
	workers.Wait()
	return len(all), answers
}

// sendHostile returns the status of the answer, or 0 if the host closed the connection on an unread
// body.
func (w *world) sendHostile(url string, text hostileText, key string, size int, told bool) int {
	in, out := io.Pipe()
	go func() {
		buffered := bufio.NewWriterSize(out, 64<<10)
		_, err := buffered.WriteString(text.open)
		length := len(text.open)
		for i := 0; err == nil && length < size-len(text.end)-len(text.middle)-20; i++ {
			one := text.middle
			if text.numbered {
				one = strings.Replace(one, "%d", strconv.Itoa(i), 1)
			}
			length += len(one)
			_, err = buffered.WriteString(one)
		}
		if err == nil && told { // blanks after JSON are ignored, and forms end early
			_, err = buffered.WriteString(text.end + strings.Repeat(" ", size-length-len(text.end)))
		} else if err == nil {
			_, err = buffered.WriteString(text.end)
		}
		if err == nil {
			err = buffered.Flush()
		}
		out.CloseWithError(err)
	}()
	ctx, stop := context.WithTimeout(w.t.Context(), patience)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, "POST", url, in)
	require.NoError(w.t, err)
	if told {
		req.ContentLength = int64(size)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	req.Header.Set("Content-Type", text.kind)
	res, err := http.DefaultClient.Do(req)
	in.Close()
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0
	}
	return res.StatusCode
}

// confine puts a host into a control group with a limit, like a container, if this machine permits
// it.
func confine(t testing.TB, h *hostProcess, limit int64) bool {
	for _, v := range []struct{ dir, file string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"},
	} {
		group := filepath.Join(v.dir, fmt.Sprint("easel-test-", h.PID()))
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			h.Kill()
			<-h.Done()
			_ = os.Remove(group) // the next test of this process has another one
		})
		if os.WriteFile(filepath.Join(group, v.file), []byte(strconv.FormatInt(limit, 10)), 0) == nil &&
			os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(h.PID())), 0) == nil {
			return true
		}
	}
	return false
}
