package main

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/offline"
)

// startMessage is the message that starts a run.
type startMessage struct {
	header engine.Value
	canvas engine.Value
	debug  engine.Value
	ports  []string
	limits engine.Limits
}

func readStart(text string) (*startMessage, error) {
	header, _, err := decode(text)
	if err != nil {
		return nil, err
	}
	s := &startMessage{header: header, canvas: header.Get("canvas"), debug: header.Get("debug")}
	for _, p := range header.Get("ports").Elements() {
		s.ports = append(s.ports, p.Str())
	}
	for name, v := range header.Get("limits").Fields() {
		n, ok := v.Int()
		if !ok {
			return nil, fmt.Errorf("limits: %s: expected a whole number", name)
		}
		if err := s.limits.Set(name, n); err != nil {
			return nil, fmt.Errorf("limits: %w", err)
		}
	}
	return s, nil
}

// answers reports whether the host answers a kind of call.
func (s *startMessage) answers(kind string) bool { return slices.Contains(s.ports, kind) }

// prepare brings the canvas to the start of the run.
func (s *startMessage) prepare(h *held) error {
	if s.header.Get("from").Str() != "" {
		if err := h.rewind(); err != nil {
			return err
		}
	}
	return h.base(s.header.Get("base"))
}

// events returns the engine's iteration of the run: a turn, or the rest of one that was saved in
// its middle.
func (s *startMessage) events(r *run) iter.Seq2[*engine.Event, error] {
	if s.header.Get("continue").True() {
		return r.held.canvas.Continue(r.ctx, r.held.state, r.options)
	}
	return r.held.canvas.Run(r.ctx, r.held.state, s.input(), r.options)
}

func (s *startMessage) input() engine.Input {
	h := s.header
	return engine.Input{
		Query: h.Get("query"), UserID: h.Get("user_id").Str(), Inputs: h.Get("inputs"),
		Files: h.Get("files"), Webhook: h.Get("webhook_payload"),
	}
}

func (s *startMessage) options(r *run) engine.Options {
	h := s.header
	o := engine.Options{
		Ports: s.portsOf(r), Limits: s.limits, Internal: true, Rerun: h.Get("rerun").True(),
		From: h.Get("from").Str(), Until: h.Get("until").Str(),
		Scheduling: engine.Scheduling(h.Get("scheduling").Str()),
	}
	concurrency, _ := h.Get("concurrency").Int()
	steps, _ := h.Get("max_steps").Int()
	o.Concurrency, o.MaxSteps = int(concurrency), int(steps)
	if seed, ok := seedOf(h.Get("seed")); ok {
		o.Seed = seed
		o.Ports.IDs = &seededIDs{state: seed ^ uint64(len(r.held.state.History()))<<32}
	} else {
		o.Ports.IDs = engine.RandomIDs{}
	}
	if now, ok := h.Get("now").Int(); ok {
		o.Ports.Clock = &standingClock{now: time.UnixMilli(now)}
	} else {
		o.Ports.Clock = engine.SystemClock{}
	}
	o.TaskID = o.Ports.IDs.NewID()
	if pins := h.Get("pins"); pins.Len() > 0 {
		o.Pins = map[string]engine.Value{}
		for node, outputs := range pins.Fields() {
			o.Pins[node] = outputs
		}
	}
	if standIns != nil {
		standIns(r, h.Get("play"), &o)
	}
	return o
}

// standIns replaces the ports of a run, in a build for tests.
var standIns func(r *run, play engine.Value, o *engine.Options)

// portsOf returns the ports that the host answers, and stand-ins for the others if they exist.
func (s *startMessage) portsOf(r *run) engine.Ports {
	p := engine.Ports{Model: &model{run: r, behind: offline.Model{}}}
	if s.answers("model") {
		p.Model = &model{run: r, behind: &hostModel{run: r, info: readInfo(s.header.Get("model"))}}
	}
	if s.answers("retrieve") {
		p.Retriever = retriever{r}
	}
	if s.answers("files") {
		p.Files = files{r}
	}
	if s.answers("documents") {
		p.Documents = documents{r}
	}
	if s.answers("speech") {
		p.Speech = speech{r}
	}
	if s.answers("fetch") {
		p.HTTP = fetch{r}
	}
	if s.answers("code") {
		p.Code = code{r}
	}
	if tool, plugin := s.answers("tool"), s.answers("plugin"); tool || plugin {
		p.Tools = tools{r, tool, plugin}
	}
	if s.answers("mcp") {
		p.MCP = mcp{r}
	}
	if s.answers("canvas") {
		p.Canvases = canvases{r}
	}
	if s.answers("memory") {
		p.Memory = memory{r}
	}
	if s.answers("secret") {
		p.Secrets = secrets{r}
	}
	return p
}
