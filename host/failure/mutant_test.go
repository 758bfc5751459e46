package failure_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// mutantsShort is the part of the mutants that `make test` runs.
func mutantsShort(t *testing.T, bin programs) { runMutants(t, bin, oddSeed, 300) }

// runMutants saves n modified real canvases and runs each with the offline model on a host of 1
// GiB. Each is refused with a reason, or ends, or is canceled if it only waits; the host stays
// alive and small.
func runMutants(t *testing.T, bin programs, seed uint64, n int) {
	w := embedded(t, bin)
	w.env = nil // the offline model
	h := w.start("a", "--memory", "1GiB")
	sources := readCanvases(t)
	t.Logf("seed %d, %d canvases; in a control group: %v", seed, len(sources), confine(t, h, 1<<30))
	r := &mutantRunner{w: w, h: h}
	mutants := make(chan []byte)
	var runners sync.WaitGroup
	for range 4 {
		runners.Go(func() {
			for dsl := range mutants {
				if problem := r.run(t.Context(), dsl); problem != "" {
					t.Errorf("%s\n\t%.3000s", problem, dsl)
				}
			}
		})
	}
	m := &mutator{rand.New(rand.NewPCG(seed, 1))}
	for i := range n {
		mutants <- m.mutate(sources[i%len(sources)])
	}
	close(mutants)
	runners.Wait()
	peak := servertest.PeakMemory(t, h.PID())
	t.Logf("%d mutants: %d refused, %d ended, %d canceled, peak %d MB", n, r.refused.Load(), r.ended.Load(),
		r.canceled.Load(), peak/1e6)
	require.Positive(t, r.ended.Load())
	requireQuiet(t, h)
	require.Less(t, peak, int64(600e6))
	require.Eventually(t, func() bool { return metric(h.url, "easel_runs_active") == 0 }, patience,
		50*time.Millisecond, "a run is stuck")
}

// readCanvases reads the canvases of EASEL_CANVASES, a folder, else the examples and those of the
// engine's cases.
func readCanvases(t testing.TB) (all [][]byte) {
	folders := []string{"../examples", "../../engine/testdata/cases"}
	if folder := os.Getenv("EASEL_CANVASES"); folder != "" {
		folders = []string{folder}
	}
	var files []string
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(folder, "*.json"))
		require.NoError(t, err)
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var canvas struct{ DSL json.RawMessage }
		require.NoError(t, json.Unmarshal(text, &canvas), file)
		if canvas.DSL != nil { // an export, which wraps the canvas with a title
			text = canvas.DSL
		}
		all = append(all, text)
	}
	require.NotEmpty(t, all)
	return all
}

// mutator changes documents. The same seed makes the same changes.
type mutator struct{ *rand.Rand }

// mutate changes one to four places of a document.
func (m *mutator) mutate(text []byte) []byte {
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		panic(err)
	}
	for range 1 + m.IntN(4) {
		document = m.change(document, 0)
	}
	out, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return out
}

// change walks down to a place and changes it.
func (m *mutator) change(v any, depth int) any {
	if depth > 2 && m.IntN(6) == 0 {
		return m.other(v)
	}
	switch x := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(x))
		if len(keys) == 0 {
			return m.other(v)
		}
		key := one(m.Rand, keys...)
		if key == "graph" { // a picture of the canvas, which does not run
			key = one(m.Rand, keys...)
		}
		switch {
		case depth > 1 && m.IntN(12) == 0:
			delete(x, key)
		case depth > 1 && m.IntN(20) == 0:
			x[key+"x"] = x[key]
		case depth > 1 && m.IntN(20) == 0:
			x[key] = x[one(m.Rand, keys...)]
		default:
			x[key] = m.change(x[key], depth+1)
		}
		return x
	case []any:
		if len(x) == 0 {
			return m.other(v)
		}
		i := m.IntN(len(x))
		switch m.IntN(8) {
		case 0:
			return slices.Delete(x, i, i+1)
		case 1:
			return append(x, x[i])
		}
		x[i] = m.change(x[i], depth+1)
		return x
	}
	return m.other(v)
}

// other returns a replacement for a value.
func (m *mutator) other(v any) any {
	if s, ok := v.(string); ok && m.IntN(2) == 0 {
		switch m.IntN(6) {
		case 0:
			return s + s
		case 1:
			return strings.ToLower(s)
		case 2:
			return "{" + s + "}"
		case 3:
			return s[:m.IntN(len(s)+1)]
		case 4:
			return strings.ReplaceAll(s, "{", "{{")
		}
		return strings.Repeat(s+" ", 1+m.IntN(200))
	}
	return one[any](m.Rand, nil, true, false, 0, -1, 1, 2.5, 1e308, 1e18, "", "x", "\x00", "begin", "sys.query",
		"{sys.query}", "{begin@query}", "{nowhere@x}", "{{", "{% for i in range(999999) %}x{% endfor %}",
		"文件😀", "true", "1", "-1", strings.Repeat("y", 50_000), []any{}, map[string]any{}, []any{nil}, []any{"begin"},
		[]any{[]any{}}, map[string]any{"": nil}, map[string]any{"type": "string", "value": nil},
		"Begin", "Message", "Iteration", "IterationItem", "Loop", "Agent", "Switch", "Categorize", "UserFillUp",
		"CodeExec", "StringTransform", "VariableAssigner", "ListOperations", "DataOperations")
}

// mutantRunner saves and runs canvases.
type mutantRunner struct {
	w                        *world
	h                        *hostProcess
	refused, ended, canceled atomic.Int64
}

const (
	// mutantPatience bounds how long a run waits for a delay between attempts, or for a form, until
	// it is canceled.
	mutantPatience = 10 * time.Second
	// cancelPatience bounds the time until a canceled run ends.
	cancelPatience = 20 * time.Second
)

// run runs a canvas and returns the faults of its events.
func (r *mutantRunner) run(ctx context.Context, dsl []byte) (problem string) {
	status, text, err := r.post(ctx, "/api/v2/canvases", fmt.Sprintf(`{"title":"m","dsl":%s}`, dsl))
	var made struct{ ID string }
	switch {
	case err != nil:
		return "save: " + err.Error()
	case status >= 400:
		r.refused.Add(1)
		return r.refusal("save", status, text)
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return "save: " + err.Error()
	}
	status, text, err = r.post(ctx, "/api/v2/canvases/"+made.ID+"/runs", `{"query":"How long can I return shoes?"}`)
	switch {
	case err != nil:
		return "run: " + err.Error()
	case status >= 400:
		r.refused.Add(1)
		return r.refusal("run", status, text)
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return "run: " + err.Error()
	}
	last, err := r.follow(ctx, made.ID, mutantPatience)
	if errors.Is(err, context.DeadlineExceeded) {
		r.canceled.Add(1)
		if status, text, err := r.post(ctx, "/api/v2/runs/"+made.ID+"/cancel",
			`{}`); err != nil || status >= 300 && status != http.StatusConflict {
			return fmt.Sprintf("cancel: %d %s %v", status, text, err)
		}
		last, err = r.follow(ctx, made.ID, cancelPatience)
	}
	if err != nil {
		return "the run is stuck: " + err.Error()
	}
	r.ended.Add(1)
	if unclear.MatchString(last) {
		return "a word of the code at the end of the run: " + last
	}
	return ""
}

// refusal returns the faults of the refusal of a canvas.
func (r *mutantRunner) refusal(what string, status int, text []byte) string {
	if status >= 500 && status != http.StatusServiceUnavailable || !isError(text) || unclear.Match(text) {
		return fmt.Sprintf("%s: %d %.500s", what, status, text)
	}
	return ""
}

func (r *mutantRunner) post(ctx context.Context, path, body string) (status int, text []byte, err error) {
	return r.send(ctx, "POST", path, body)
}

func (r *mutantRunner) send(ctx context.Context, method, path, body string) (status int, text []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, r.h.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.w.key)
	res, err := oddClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	text, err = io.ReadAll(res.Body)
	return res.StatusCode, text, err
}

// follow reads the events of a run to the last one, up to a time limit.
func (r *mutantRunner) follow(ctx context.Context, run string, most time.Duration) (last string, err error) {
	ctx, stop := context.WithTimeout(ctx, most)
	defer stop()
	_, text, err := r.send(ctx, "GET", "/api/v2/runs/"+run+"/events", "")
	if err != nil {
		return "", err
	}
	events := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	last = events[len(events)-1]
	if !strings.Contains(last, "event: end") {
		return "", fmt.Errorf("the last event is %.300q", last)
	}
	return last, nil
}
