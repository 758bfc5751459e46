package plugin

import (
	"bytes"
	"context"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

// CallRequest is one call of an export.
type CallRequest struct {
	Export string // default easel_invoke
	Input  []byte // not changed
	Tenant string // instances are never shared between tenants
	Run    string // for StateRun
	// Timeout tightens the limit of the module; zero means the module's own.
	Timeout time.Duration
	// Fuel tightens the limit of the module; zero means the module's own.
	Fuel int64
	// Grant cuts the module's grant further, for instance to the permissions of the tenant; nil
	// leaves it. Make it once per tenant with Permissions.Cut, not per call.
	Grant *contract.Permissions
	// Settings of the plugin for the tenant, an object; null for none. config_get prefers them to
	// those of LoadOptions.
	Settings engine.Value
	// Services handle the requests of the plugin; nil ones are unsupported.
	Services Services
	// SecretMark is required in a placeholder of a secret, {{secret:NAME:MARK}}: random text that
	// is drawn for this call, see engine.NewSecretMark. Any other placeholder is plain text. It is
	// removed from everything the call returns; empty allows no secret.
	SecretMark string
	// Emit receives the emissions of the plugin in order, while the plugin waits. An error requests
	// the plugin to finish. Nil drops them.
	Emit func(ctx context.Context, e contract.Emission) error
	// Handover lets a compiled module continue the call of an interpreted one; nil does not.
	Handover *Handover
	// Scratch holds the Extism variables of the run; with nil the call starts without any.
	Scratch *Scratch

	id, node string // of an invocation, for its log lines
	command  bool   // the export is a program
}

// Result is the result of a call; Logs, Fuel and Memory are also set with an error.
type Result struct {
	Output []byte
	Fuel   int64 // units of plugins/meter burnt by the export
	Memory int64 // bytes of the guest's memory after the call
	Logs   []LogLine
	// Waited is the time that the call waited for places among the computing plugins.
	Waited time.Duration
	// Stored are the files that the call stored: {doc_id, format, file_name, filename, mime_type,
	// size}.
	Stored []engine.Value
}

// LogLine is one line a plugin logged.
type LogLine struct {
	Level string `json:"level"` // trace, debug, info, warn or error
	Text  string `json:"text"`
}

// Call runs one export: input as bytes, output as bytes. The error is an *Error.
//
// The deadline is the smallest of the module's timeout, req.Timeout and ctx. When
// ctx ends, the plugin learns it from its next emit or host call and has 250 ms
// to finish; one that does not ask is stopped at once.
func (m *Module) Call(ctx context.Context, req CallRequest) (Result, error) {
	if req.Export == "" {
		req.Export = "easel_invoke"
	}
	req.command = req.Export == contract.CommandExport && m.manifest.HasCommand()
	res, err := m.call(ctx, &req)
	res.unmark(req.SecretMark)
	if err != nil {
		return res, err.Unmarked(req.SecretMark).At(m.manifest.Name, req.Export)
	}
	return res, nil
}

// unmark removes the mark of a call from its result.
func (r *Result) unmark(mark string) {
	if mark == "" {
		return
	}
	if bytes.Contains(r.Output, []byte(mark)) {
		r.Output = []byte(engine.UnmarkSecrets(string(r.Output), mark))
	}
	for i := range r.Logs {
		r.Logs[i].Text = engine.UnmarkSecrets(r.Logs[i].Text, mark)
	}
}

func (m *Module) call(ctx context.Context, req *CallRequest) (Result, *contract.Error) {
	if !m.begin() {
		return Result{}, contract.Errorf(contract.Closed, "the plugin was removed or replaced; load it again")
	}
	defer m.end()
	if ctx.Err() != nil {
		return Result{}, ended(ctx)
	}
	h := m.host
	call := h.calls.enter(ctx, req.Tenant, h.cfg.QueueWait)
	if call == nil {
		return Result{}, waited(ctx, "%d calls are under way", h.cfg.MaxCalls)
	}
	defer h.calls.leave(call)
	place := m.places.enter(ctx, req.Tenant, h.cfg.QueueWait)
	if place == nil {
		return Result{}, waited(ctx, "%d calls of this plugin are under way", h.cfg.MaxPerPlugin)
	}
	defer m.places.leave(place)
	g, ok := m.pool.take(ctx, req) // first: a call that waits here must not keep others from computing
	if !ok {
		return Result{}, ended(ctx)
	}
	queued, entered := h.running.enter(ctx, req.Tenant, m.name(), h.cfg.QueueWait)
	if !entered {
		m.pool.give(g, req, true)
		return Result{}, waited(ctx, "%d plugins are computing", h.cfg.MaxRunning)
	}
	if g == nil {
		began := time.Now()
		made, err := m.instantiate(ctx, req.Tenant, within(req.Timeout, m.limits.Timeout()), req.command)
		if err != nil {
			h.running.leave(req.Tenant, m.name(), began)
			m.pool.give(nil, req, false)
			return Result{}, contract.AsError(err, contract.Internal)
		}
		m.pool.firstTook(time.Since(began))
		g = made
	}
	res, good, err := g.run(ctx, req)
	res.Waited = queued + g.waited
	g.leave()
	m.pool.give(g, req, good)
	return res, err
}

// waited explains why a call got no turn.
func waited(ctx context.Context, format string, args ...any) *contract.Error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	return contract.Errorf(contract.Unavailable, format, args...)
}

// ended turns the end of a context into an error.
func ended(ctx context.Context) *contract.Error {
	if ctx.Err() == context.DeadlineExceeded {
		return contract.Errorf(contract.Timeout, "the caller's deadline passed")
	}
	return contract.Errorf(contract.Cancelled, "the caller gave up")
}

// within returns the limit v under the limit most; v not positive means most.
func within(v, most time.Duration) time.Duration {
	if v <= 0 {
		return most
	}
	return min(v, most)
}

// EndRun frees the instance of a run of a plugin with StateRun.
func (m *Module) EndRun(tenant, run string) { m.pool.endRun(tenant, run) }

// interval is the largest allowance a tick hands out.
const interval = int64(meter.Interval)
