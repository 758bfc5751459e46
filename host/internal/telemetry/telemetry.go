// Package telemetry sends traces of requests, runs and nodes to a collector, by OpenTelemetry's
// protocol over HTTP.
//
// A request is a span, a run is a span below the request that began it, each node and each tool
// call is a span below its run. A caller's own trace continues when it sends a traceparent header,
// and a run that another host takes over stays in its trace.
//
// Spans hold names, ids, times and how something ended. They never contain texts of users, models
// or tools, texts of errors, keys, or query strings.
//
// The destination of spans is set by the standard variables: OTEL_EXPORTER_OTLP_ENDPOINT and
// related ones, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_SDK_DISABLED. An unavailable or slow
// collector loses spans and does not slow the host down.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/easel-canvas/easel/host/internal/egress/reach"
)

// Config describes the program in traces. Other settings are in the environment.
type Config struct {
	Version string
	Log     *slog.Logger // nil means slog.Default
}

// Tracer makes spans. A nil Tracer makes none; its methods can be called.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	log      *slog.Logger
	closing  time.Duration // time limit for sending the remaining spans

	mu   sync.Mutex
	runs map[string]*run
}

// Wanted reports whether the environment names a collector.
func Wanted(getenv func(string) string) bool {
	return (getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "") &&
		getenv("OTEL_SDK_DISABLED") != "true" && getenv("OTEL_TRACES_EXPORTER") != "none"
}

// Open starts sending spans.
func Open(ctx context.Context, cfg Config) (*Tracer, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithProxy(proxyAtOrigin))
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	// The environment comes last and takes precedence.
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "easel"), attribute.String("service.version", cfg.Version),
	), resource.WithHost(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, errors.Join(fmt.Errorf("telemetry: %w", err), exporter.Shutdown(ctx))
	}
	t := &Tracer{
		provider: sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about)),
		log:      cfg.Log, closing: closeTime, runs: map[string]*run{},
	}
	t.tracer = t.provider.Tracer("github.com/easel-canvas/easel")
	var last time.Time
	var mu sync.Mutex
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) > time.Minute {
			last = time.Now()
			cfg.Log.Warn("traces are lost", "err", err)
		}
	}))
	return t, nil
}

// proxyAtOrigin returns the proxy of the environment for a request to the collector. The exporter
// follows redirects with the headers of OTEL_EXPORTER_OTLP_HEADERS and only this function is called
// for each: another origin is refused.
func proxyAtOrigin(r *http.Request) (*url.URL, error) {
	if from := r.Response; from != nil { // the redirect that led here
		if err := reach.StayAtOrigin(r, []*http.Request{from.Request}); err != nil {
			return nil, err
		}
	}
	return http.ProxyFromEnvironment(r)
}

// closeTime bounds the wait of a stopping host for its collector.
const closeTime = 3 * time.Second

// Close sends the remaining spans.
func (t *Tracer) Close() error {
	if t == nil {
		return nil
	}
	ctx, done := context.WithTimeout(context.Background(), t.closing)
	defer done()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("the last traces are lost", "err", err)
	}
	return nil
}

// Names carry a span from one process to another.
var carrier = propagation.TraceContext{}

// parentOf names the span of ctx as a traceparent header.
func parentOf(ctx context.Context) string {
	m := propagation.MapCarrier{}
	carrier.Inject(ctx, m)
	return m["traceparent"]
}

// under returns a context below the span that a traceparent header names.
func under(ctx context.Context, parent string) context.Context {
	return carrier.Extract(ctx, propagation.MapCarrier{"traceparent": parent})
}
