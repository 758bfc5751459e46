package host

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// The benchmarks put the real program under load over HTTP; the load generator is this process, on
// the same machine. Each reports its own figures: runs/s, milliseconds at a percentile, megabytes.

// served is the real program, listening.
type served struct {
	addr string
	pid  int
}

const benchKey = "ragflow-bench"

// serveProgram starts easel serve on a fresh data directory. model is the
// address of a server that speaks the models' protocol, "" for none.
func serveProgram(b *testing.B, model string, flags ...string) *served {
	b.Helper()
	file, err := servertest.Build(b.TempDir(), "./cmd/easel")
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(file, append([]string{
		"serve", "--addr", "127.0.0.1:0", "--data", b.TempDir(),
		"--allow-private",
	}, flags...)...)
	cmd.Env = append(os.Environ(), "EASEL_API_KEY="+benchKey)
	if model != "" {
		config := filepath.Join(b.TempDir(), "models.json")
		text := `{"providers":[{"name":"local","base_url":"` + model + `","key":"none","models":[{"name":"slow"}]}]}`
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		cmd.Env = append(cmd.Env, "EASEL_MODEL_FILE="+config)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	var told bytes.Buffer
	cmd.Stderr = &told
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill() // ends it in any state
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if addr, ok := strings.CutPrefix(lines.Text(), "address: http://"); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return &served{addr, cmd.Process.Pid}
		}
	}
	b.Fatalf("the host did not start: %s", told.String())
	return nil
}

// create saves a canvas and returns its id.
func (s *served) create(b *testing.B, dsl string) string {
	b.Helper()
	var v struct{ ID string }
	s.call(b, "POST", "/api/v2/canvases", `{"title":"bench","dsl":`+dsl+`}`, &v)
	return v.ID
}

func (s *served) call(b *testing.B, method, path, body string, into any) {
	b.Helper()
	req, err := http.NewRequest(method, "http://"+s.addr+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+benchKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode > 299 {
		b.Fatalf("%s %s: %s %s %v", method, path, res.Status, data, err)
	}
	if into != nil {
		if err := json.Unmarshal(data, into); err != nil {
			b.Fatal(err)
		}
	}
}

// request returns the bytes that start a run whose events are the answer.
func (s *served) request(canvas string) []byte {
	const body = `{"query":"hello"}`
	return fmt.Appendf(nil, "POST /api/v2/canvases/%s/runs HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", canvas, s.addr,
		benchKey, len(body), body)
}

// streaming is one connection that reads streams of events. It only separates events, so that the
// load generator costs little.
type streaming struct {
	conn net.Conn
	in   *bufio.Reader
	body *bufio.Reader
}

func (s *served) dial() (*streaming, error) {
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		return nil, err
	}
	return &streaming{conn: conn, in: bufio.NewReader(conn), body: bufio.NewReaderSize(nil, 1<<10)}, nil
}

var errStatus = errors.New("the answer is not a stream")

// begin sends a request and reads the head of the answer.
func (c *streaming) begin(request []byte) error {
	if _, err := c.conn.Write(request); err != nil {
		return err
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("%w: %s", errStatus, line)
	}
	for len(line) > 2 {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return err
		}
	}
	c.body.Reset(httputil.NewChunkedReader(c.in))
	return nil
}

// next reads to the name of the next event; "" is the end of the answer.
func (c *streaming) next() (string, error) {
	for {
		line, err := c.body.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = c.body.ReadSlice('\n') // a long line of data
		}
		if err == io.EOF {
			_, err = c.in.ReadSlice('\n') // behind the last chunk
			return "", err
		}
		if err != nil {
			return "", err
		}
		if name, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
			return string(bytes.TrimSpace(name)), nil
		}
	}
}

// whole reads a stream to its end.
func (c *streaming) whole() error {
	last := ""
	for {
		name, err := c.next()
		if err != nil {
			return err
		}
		if name == "" {
			if last != "end" {
				return fmt.Errorf("the stream ended after %q", last)
			}
			return nil
		}
		last = name
	}
}

var shortCanvas = sketch.Chain("begin Begin", `Message:A Message {"content":["hello"]}`)

// clients is the number of concurrent clients: enough that writes share their commits.
const clients = 64

// together runs fn on many goroutines until the time is over and returns how
// often it succeeded per second.
func together(b *testing.B, n int, d time.Duration, fn func(worker int, until time.Time) (int, error)) float64 {
	b.Helper()
	var total atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for w := range n {
		all.Go(func() {
			count, err := fn(w, began.Add(d))
			total.Add(int64(count))
			if err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	return float64(total.Load()) / time.Since(began).Seconds()
}

// keepNothing ends the traces of the host.
func (s *served) keepNothing(b *testing.B) {
	b.Helper()
	body := strings.NewReader(`{"days":0}`)
	r, err := http.NewRequestWithContext(b.Context(), "PUT", "http://"+s.addr+"/api/v2/settings/traces", body)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+benchKey)
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		b.Fatal(a.Status)
	}
}

// loadTime is the duration of each measurement.
const loadTime = 4 * time.Second

// BenchmarkRunsOverHTTP is complete runs of a Begin-Message canvas, each
// started and read to its end. The floors are the same synced writes without
// anything around them (one writer in one loop, and as many at once as there
// are clients, who share commits), and the engine alone.
func BenchmarkRunsOverHTTP(b *testing.B) {
	for _, load := range []struct {
		name    string
		sync    Sync
		clients int
		bare    bool // without traces
	}{
		{"sync=interval", SyncInterval, clients, false},
		{"sync=interval,no-traces", SyncInterval, clients, true},
		{"sync=contract", SyncContract, clients, false},
		{"sync=contract,one-client", SyncContract, 1, false},
	} {
		b.Run(load.name, func(b *testing.B) {
			s := serveProgram(b, "", "--sync", string(load.sync))
			if load.bare {
				s.keepNothing(b)
			}
			request := s.request(s.create(b, shortCanvas))
			run := func(_ int, until time.Time) (n int, err error) {
				c, err := s.dial()
				if err != nil {
					return 0, err
				}
				defer c.conn.Close()
				for time.Now().Before(until) {
					if err = c.begin(request); err == nil {
						err = c.whole()
					}
					if err != nil {
						return n, err
					}
					n++
				}
				return n, nil
			}
			together(b, load.clients, time.Second, run) // warm
			spent := cpuTime(b, s.pid)
			rate := together(b, load.clients, loadTime, run)
			spent = cpuTime(b, s.pid) - spent
			b.ReportMetric(rate, "runs/s")
			b.ReportMetric(spent.Seconds()*1e6/(rate*loadTime.Seconds()), "cpu-us/run")
			b.ReportMetric(0, "ns/op")
		})
	}
	for _, floor := range []struct {
		name    string
		sync    store.Sync
		writers int
	}{
		{"floor=writes", store.SyncInterval, clients},
		{"floor=synced-writes", store.SyncAlways, clients},
		{"floor=synced-writes-in-a-loop", store.SyncAlways, 1},
	} {
		b.Run(floor.name, func(b *testing.B) {
			st, err := store.Open(b.Context(), store.Config{Dir: b.TempDir(), Sync: floor.sync})
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			rate := together(b, floor.writers, loadTime, func(_ int, until time.Time) (n int, err error) {
				for time.Now().Before(until) {
					id := uuid.Must(uuid.NewV7()).String() // in order, as those of runs
					if err := st.Runs.Start(
						b.Context(),
						store.Run{
							ID: id, Tenant: firstTenantID, Canvas: id, Source: "v2",
							Input: []byte(`{"query":"hello"}`),
						},
					); err != nil {
						return n, err
					}
					if _, err := st.Runs.End(
						b.Context(), store.RunEnd{ID: id, Status: store.RunDone}, nil,
					); err != nil {
						return n, err
					}
					n++
				}
				return n, nil
			})
			b.ReportMetric(rate, "runs/s")
			b.ReportMetric(0, "ns/op")
		})
	}
	b.Run("floor=engine", func(b *testing.B) {
		registry, err := engine.NewRegistry(component.Builtin()...)
		if err != nil {
			b.Fatal(err)
		}
		canvas, err := engine.Load(registry, []byte(shortCanvas))
		if err != nil {
			b.Fatal(err)
		}
		rate := together(b, 1, time.Second, func(_ int, until time.Time) (n int, err error) {
			for ; time.Now().Before(until); n++ {
				for _, err := range canvas.Run(b.Context(), canvas.State(), engine.Input{Query: engine.String("hello")},
					engine.Options{}) {
					if err != nil {
						return n, err
					}
				}
			}
			return n, nil
		})
		b.ReportMetric(rate, "runs/s")
		b.ReportMetric(0, "ns/op")
	})
}

// slowModel answers each request with a word every pause, words times; without words it sends
// nothing until the client leaves.
func slowModel(b *testing.B, words int, pause time.Duration) string {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		out := http.NewResponseController(w)
		_ = out.Flush()
		for range words {
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
				return
			}
			_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"word "}}]}`+"\n\n")
			_ = out.Flush()
		}
		if words == 0 {
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}))
	b.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL + "/v1"
}

var modelCanvas = sketch.Chain("begin Begin",
	`LLM:A LLM {"llm_id":"slow@local","sys_prompt":"talk","prompts":[{"role":"user","content":"{sys.query}"}]}`,
	`Message:A Message {"content":["{LLM:A@content}"]}`)

// BenchmarkFirstEvent is the time from a request to its first event while 200
// streams are open, each of which receives a word every 100 ms.
func BenchmarkFirstEvent(b *testing.B) {
	const streams = 200
	s := serveProgram(b, slowModel(b, 20, 100*time.Millisecond), "--sync", string(SyncInterval))
	request := s.request(s.create(b, modelCanvas))
	var mu sync.Mutex
	var waits []time.Duration
	together(b, streams, 2*loadTime, func(w int, until time.Time) (n int, err error) {
		c, err := s.dial()
		if err != nil {
			return 0, err
		}
		defer c.conn.Close()
		time.Sleep(time.Duration(w) * 10 * time.Millisecond) // they do not begin together
		for time.Now().Before(until) {
			began := time.Now()
			if err := c.begin(request); err != nil {
				return n, err
			}
			if _, err := c.next(); err != nil {
				return n, err
			}
			took := time.Since(began)
			mu.Lock()
			waits = append(waits, took)
			mu.Unlock()
			if err := c.whole(); err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	})
	b.ReportMetric(percentile(waits, 50), "p50-ms")
	b.ReportMetric(percentile(waits, 99), "p99-ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkOpenStreams is the memory of a host with 5,000 open streams, ten to
// a run; the model of each run is silent.
func BenchmarkOpenStreams(b *testing.B) {
	const runs, readers = 500, 10
	s := serveProgram(b, slowModel(b, 0, 0), "--sync", string(SyncInterval))
	canvas := s.create(b, modelCanvas)
	b.ReportMetric(residentMB(b, s.pid), "MB-idle")
	var open []*streaming
	defer func() {
		for _, c := range open {
			c.conn.Close()
		}
	}()
	for range runs {
		var v struct {
			EventsURL string `json:"events_url"`
		}
		s.call(b, "POST", "/api/v2/canvases/"+canvas+"/runs", `{"query":"hello"}`, &v)
		request := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", v.EventsURL,
			s.addr, benchKey)
		for range readers {
			c, err := s.dial()
			if err != nil {
				b.Fatal(err)
			}
			open = append(open, c)
			if err := c.begin(request); err != nil {
				b.Fatal(err)
			}
			if _, err := c.next(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(open)), "streams")
	b.ReportMetric(residentMB(b, s.pid), "MB")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkCancelOverHTTP is the time from a cancel to the last event of its
// run, with 200 runs active.
func BenchmarkCancelOverHTTP(b *testing.B) {
	const runs = 200
	s := serveProgram(b, slowModel(b, 0, 0), "--sync", string(SyncInterval))
	canvas := s.create(b, modelCanvas)
	var waits []time.Duration
	var ids []string
	var open []*streaming
	for range runs {
		var v struct {
			ID        string
			EventsURL string `json:"events_url"`
		}
		s.call(b, "POST", "/api/v2/canvases/"+canvas+"/runs", `{"query":"hello"}`, &v)
		c, err := s.dial()
		if err != nil {
			b.Fatal(err)
		}
		defer c.conn.Close()
		if err := c.begin(fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n",
			v.EventsURL, s.addr, benchKey)); err != nil {
			b.Fatal(err)
		}
		ids, open = append(ids, v.ID), append(open, c)
	}
	for i, c := range open {
		began := time.Now()
		s.call(b, "POST", "/api/v2/runs/"+ids[i]+"/cancel", "", nil)
		if err := c.whole(); err != nil {
			b.Fatal(err)
		}
		waits = append(waits, time.Since(began))
	}
	b.ReportMetric(percentile(waits, 50), "p50-ms")
	b.ReportMetric(percentile(waits, 99), "p99-ms")
	b.ReportMetric(0, "ns/op")
}

// percentile returns a percentile in milliseconds.
func percentile(list []time.Duration, p int) float64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return float64(list[min(len(list)*p/100, len(list)-1)].Microseconds()) / 1000
}

// cpuTime returns the processor time of a process, user and system together.
func cpuTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip("the CPU time of a process is read from /proc: ", err)
	}
	// Fields after the name in parentheses; user and system time are the 12th
	// and 13th of them, in hundredths of a second.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	var sum time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum
}

// residentMB returns the memory that a process holds, in megabytes.
func residentMB(b *testing.B, pid int) float64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("the memory of a process is read from /proc: ", err)
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kb) / 1024
}
