package cli

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// TestServeTraces runs a canvas on a served host and reads the spans that a collector receives: the
// request, the run below it, its nodes below the run, and no texts of the conversation.
func TestServeTraces(t *testing.T) {
	var mu sync.Mutex
	byName, names := map[string]*spans.Span{}, map[string]string{}
	var text strings.Builder
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(body)
			if err != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			body = unpacked
		}
		data, _ := io.ReadAll(body)
		var got collector.ExportTraceServiceRequest
		if proto.Unmarshal(data, &got) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		text.WriteString(got.String())
		for _, rs := range got.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					byName[s.Name], names[string(s.SpanId)] = s, s.Name
				}
			}
		}
	}))
	defer sink.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", sink.URL) // read by the exporter itself
	s := serve(t, []string{"EASEL_API_KEY=" + operatorKey, "OTEL_EXPORTER_OTLP_ENDPOINT=" + sink.URL})
	canvas := member(t, s.post("/api/v2/canvases", operatorKey, `{"title":"c","dsl":`+echoing+`}`), "id")
	require.Contains(t, s.post("/api/v1/agents/"+canvas+"/completions", operatorKey,
		`{"question":"hush-prompt","stream":false}`), "hush-prompt")
	require.NoError(t, s.stop())

	mu.Lock()
	defer mu.Unlock()
	for name, parent := range map[string]string{
		"POST /api/v1/agents/{id}/completions": "", "run": "POST /api/v1/agents/{id}/completions", "node Begin": "run",
		"node Message": "run",
	} {
		require.NotNil(t, byName[name], "%s of %v", name, names)
		require.Equal(t, parent, names[string(byName[name].ParentSpanId)], name)
		require.Equal(t, byName["run"].TraceId, byName[name].TraceId)
	}
	require.NotContains(t, text.String(), "hush-prompt")
	require.NotContains(t, text.String(), operatorKey)
}
