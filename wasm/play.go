//go:build conformance

package main

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// A build with the tag conformance plays cases with the stand-ins of enginetest inside the module:
// the observation must equal that of the native engine byte for byte.

// extra are the components that cases need besides the built-in ones.
var extra = []engine.Spec{enginetest.EchoToolSpec()}

func init() {
	operations["play"] = (*bridge).playCase
	standIns = play
}

// play sets a run up as the player does run number play.run of the case play.case, so that a host
// drives it and gets its events as those of any other run.
func play(r *run, play engine.Value, o *engine.Options) {
	if n, ok := play.Get("flood").Int(); ok {
		flood(r, n, play.Get("line").Str())
		return
	}
	c, err := enginetest.ReadCase(play.Get("case"))
	if err != nil {
		return // an ordinary run
	}
	n, _ := play.Get("run").Int()
	if n < 0 || int(n) >= len(c.Runs) {
		return
	}
	turn := &c.Runs[n]
	if turn.Reset != enginetest.ResetNothing {
		r.held.state.Reset(turn.Reset == enginetest.ResetKeepMemory)
	}
	o.Ports = engine.Ports{
		Model:     &model{run: r, behind: &enginetest.Model{Script: turn.Script, Fallback: turn.Fallback}},
		Retriever: &enginetest.Retriever{Found: turn.Retrieval}, Files: &enginetest.Files{Blobs: turn.Blobs},
		Memory: &enginetest.Memory{}, Speech: enginetest.Voice{}, HTTP: enginetest.HTTP{},
		Clock: &enginetest.Clock{}, IDs: enginetest.IDsFrom(uint64(n) << 16),
	}
	o.TaskID, o.CanvasID, o.TenantID = fmt.Sprintf("task_%d", n+1), enginetest.CanvasID, enginetest.Tenant
	o.Seed, o.Concurrency = 1, 1
	if turn.Cancel != nil {
		o.CancelBefore = turn.Cancel.Before
		if !turn.Cancel.Before {
			o.CancelAfter = &turn.Cancel.After
		}
	}
}

// flood emits the same event many times, to measure the cost of the way to the host without the
// engine.
func flood(r *run, n int64, line string) {
	for range n {
		r.out.add(func(b []byte) []byte { return append(b, line...) })
		breathe()
	}
}

// playCase plays a whole case; the answer is the observation. concurrency in the header bounds the
// nodes of a batch.
func (b *bridge) playCase(header engine.Value, body string) ([]byte, error) {
	c, err := enginetest.ParseCase([]byte(body))
	if err != nil {
		return nil, err
	}
	n, _ := header.Get("concurrency").Int()
	player := &enginetest.Player{Registry: b.registry, Concurrency: int(n)}
	seen, err := player.Play(context.Background(), c)
	if err != nil {
		return nil, err
	}
	return seen.AppendJSON(nil), nil
}
