package telemetry

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
)

var quiet = slog.New(slog.DiscardHandler)

// receiver is a collector that records the spans of a Tracer.
type receiver struct {
	mu    sync.Mutex
	spans []*spans.Span
	text  strings.Builder // everything, decoded
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	data, err := io.ReadAll(body)
	var got collector.ExportTraceServiceRequest
	if err = errors.Join(err, proto.Unmarshal(data, &got)); err != nil || req.URL.Path != "/v1/traces" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.WriteString(got.String())
	for _, rs := range got.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			r.spans = append(r.spans, ss.Spans...)
		}
	}
}

// tree formats the spans as "name < name of the parent", sorted by start.
func (r *receiver) tree() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]string{}
	for _, s := range r.spans {
		names[string(s.SpanId)] = s.Name
	}
	for _, s := range r.spans {
		line := s.Name + " < " + names[string(s.ParentSpanId)]
		if s.Status.GetCode() == spans.Status_STATUS_CODE_ERROR {
			line += " !"
		}
		out = append(out, line)
	}
	return out
}

func (r *receiver) find(t *testing.T, name string) *spans.Span {
	t.Helper()
	for _, s := range r.spans {
		if s.Name == name {
			return s
		}
	}
	require.Fail(t, "no span "+name, "%v", r.tree())
	return nil
}

func label(s *spans.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

func opened(t *testing.T) *Tracer {
	t.Helper()
	tr, err := Open(t.Context(), Config{Version: "1.2.3", Log: quiet})
	require.NoError(t, err)
	tr.closing = time.Minute // the collector is a busy machine's
	return tr
}

func TestSpans(t *testing.T) {
	r := newReceiver(t)
	tr := opened(t)
	job := runs.Job{ID: "run1", Canvas: "canvas1", Tenant: "tenant1", Source: "api"}
	tell := func(kind, data string) {
		tr.Watch(&job, runlog.Record{Kind: kind, Data: []byte(`{"event":"` + kind + `","data":` + data + `}`)}, false)
	}
	h := tr.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req.Pattern = "/api/v1/agents/{id}/completions"
		job.Parent = tr.Parent(req.Context())
		w.WriteHeader(http.StatusAccepted)
		require.NoError(t, http.NewResponseController(w).Flush(), "streams flush through the wrapper")
	}))
	req := httptest.NewRequest("POST", "/api/v1/agents/hush-id/completions?token=hush-query",
		strings.NewReader("hush-body"))
	req.Header.Set("Authorization", "Bearer hush-key")
	req.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	h.ServeHTTP(httptest.NewRecorder(), req)
	tell("workflow_started", `{"inputs":{"query":"hush-prompt"}}`)
	tell("node_started", `{"component_id":"begin","component_type":"Begin"}`)
	tell("node_finished",
		`{"component_id":"begin","component_type":"Begin","outputs":{"x":"hush-answer"},"error":null}`)
	tell("node_started", `{"component_id":"Agent:A","component_type":"Agent"}`)
	tell("queued", `{"component_id":"Agent:A","queue":"model","name":"hush-model","elapsed_time":1.5}`)
	tell("queued", `{"component_id":"Agent:A","queue":"model","name":"hush-model","elapsed_time":0.5}`)
	tell("tool_finished", `{"component_id":"Agent:A","tool_name":"search","arguments":{"q":"hush-argument"},`+
		`"result":"hush-result","elapsed_time":2.5}`)
	tell("node_finished",
		`{"component_id":"Agent:A","component_type":"Agent","inputs":{"p":"hush-prompt"},"error":"hush-error"}`)
	tell("node_started", `{"component_id":"LLM:L","component_type":"LLM","index_path":[0]}`)
	tell("node_started", `{"component_id":"LLM:L","component_type":"LLM","index_path":[1]}`)
	tell("node_finished", `{"component_id":"LLM:L","component_type":"LLM","index_path":[1],"error":null}`)
	tell("node_finished", `{"component_id":"LLM:L","component_type":"LLM","index_path":[0],"error":"x"}`)
	tell("node_started", `{"component_id":"Message:M","component_type":"Message"}`)
	tr.End(&job, runs.End{Status: "failed", Code: "run_failed", Error: "hush-error"})
	require.Empty(t, tr.runs)

	again := runs.Job{ID: "run2", Canvas: "canvas1", Parent: job.Parent}
	old := []byte(`{"data":{"component_id":"old","component_type":"LLM"}}`)
	tr.Watch(&again, runlog.Record{Kind: "node_started", Data: old}, true)
	tr.Watch(&again, runlog.Record{Kind: runs.KindTakeover}, false)
	tr.Watch(&again, runlog.Record{Kind: "node_finished", Data: old}, false)
	tr.End(&again, runs.End{Status: "succeeded"})

	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/healthz", nil))
	require.NoError(t, tr.Close())
	const request = "POST /api/v1/agents/{id}/completions"
	require.ElementsMatch(t, []string{
		request + " < ", "run < " + request + " !", "node Begin < run", "node Agent < run !", "tool < node Agent",
		"node LLM < run", "node LLM < run !", "node Message < run", "run < " + request,
	}, r.tree())
	s := r.find(t, request)
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", hex.EncodeToString(s.TraceId), "the caller's trace continues")
	require.Equal(t, "b7ad6b7169203331", hex.EncodeToString(s.ParentSpanId))
	require.Equal(t, "canvas1", label(r.find(t, "run"), "easel.canvas.id"))
	queued := 0.0
	for _, a := range r.find(t, "node Agent").Attributes {
		if a.Key == "easel.queue.seconds" {
			queued = a.Value.GetDoubleValue()
		}
	}
	require.Equal(t, 2.0, queued, "both waits of the node")
	tool := r.find(t, "tool")
	require.InDelta(t, 2.5, time.Duration(tool.EndTimeUnixNano-tool.StartTimeUnixNano).Seconds(), 1e-6)
	require.Contains(t, r.text.String(), "1.2.3")
	require.NotContains(t, r.text.String(), "hush")
}

func TestRequestsWithoutARoute(t *testing.T) {
	r := newReceiver(t)
	tr := opened(t)
	h := tr.Handler(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request,
	) {
		w.WriteHeader(http.StatusInternalServerError)
	}))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/hush/path", nil))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("HUSH", "/", nil))
	require.NoError(t, tr.Close())
	require.NotContains(t, r.text.String(), "/hush")
	require.Equal(t, "_OTHER", label(r.spans[1], "http.request.method"))
	require.Equal(t, spans.Status_STATUS_CODE_ERROR, r.spans[0].Status.Code)
}

// An unavailable collector blocks no request, and closing ends soon.
func TestUnavailableCollector(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	tr := opened(t)
	tr.closing = closeTime
	for range 5000 {
		j := runs.Job{ID: "r"}
		tr.Watch(&j, runlog.Record{Kind: "node_started", Data: []byte(`{"data":{"component_id":"n"}}`)}, false)
		tr.End(&j, runs.End{})
	}
	began := time.Now()
	require.NoError(t, tr.Close())
	require.Less(t, time.Since(began), 20*closeTime)
}

func TestHeadersStayAtTheCollector(t *testing.T) {
	var stolen, asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen.Add(1) }))
	defer other.Close()
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Team-Key") != "k":
			t.Error("the header is missing")
		case r.URL.Path == "/v1/traces":
			http.Redirect(w, r, "/near", http.StatusTemporaryRedirect)
		default:
			asked.Add(1)
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "X-Team-Key=k")
	tr := opened(t)
	tr.closing = 5 * time.Second
	_, span := tr.tracer.Start(t.Context(), "s")
	span.End()
	require.NoError(t, tr.Close())
	require.Positive(t, asked.Load())
	require.Zero(t, stolen.Load(), "the header went to another origin")
}

func TestNilTracer(t *testing.T) {
	var tr *Tracer
	tr.Watch(&runs.Job{}, runlog.Record{Kind: "x"}, false)
	tr.End(&runs.Job{}, runs.End{})
	require.Empty(t, tr.Parent(context.Background()))
	require.NotNil(t, tr.Handler(http.NotFoundHandler()))
	require.NoError(t, tr.Close())
}

func TestTracesAreEnabledByTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "none"}, false},
	} {
		require.Equal(t, c.want, Wanted(func(name string) string { return c.env[name] }))
	}
}
