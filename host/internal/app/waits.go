package app

import (
	"context"
	"errors"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Wait describes the form or approval of a paused run.
type Wait = store.Wait

// WaitFilter selects waits; empty fields match all.
type WaitFilter struct {
	State string
	Mine  bool // of runs that the principal has started
}

// States of a [Wait].
const (
	WaitOpen     = store.WaitOpen
	WaitAnswered = store.WaitAnswered
	WaitExpired  = store.WaitExpired
	WaitCanceled = store.WaitCanceled
)

// Waits lists what runs wait for, of the canvases that a principal may use; an embedded page lists
// none.
func (s *Runs) Waits(ctx context.Context, who Principal, f WaitFilter, p Page) ([]Wait, int, error) {
	if who.Embeds {
		return nil, 0, Forbidden("embedded pages have no inbox")
	}
	of := store.WaitFilter{Tenant: who.Tenant, Viewer: who.Viewer(), State: f.State}
	if of.Viewer.Whole {
		of.Viewer = access.Viewer{}
	}
	if f.Mine {
		of.Runner = who.Started().Runner()
	}
	list, total, err := s.store.Waits.List(ctx, of, p)
	if err != nil {
		return nil, 0, err
	}
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	shut, err := shutFrom(ctx, s.store, who, ids...) // a form may repeat what the run has read
	for i := range list {
		if shut[list[i].ID] {
			list[i].Form = nil
		}
	}
	return list, total, err
}

// Wait returns what a run waits for or has waited for; nil for a run that never waited.
func (s *Runs) Wait(ctx context.Context, run Run) (*Wait, error) {
	v, err := s.store.Waits.Get(ctx, run.Tenant, run.ID)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return &v, err
}

// AnsweredBy returns who answered a wait; the zero value while it is open.
func AnsweredBy(v *Wait) Starter { return runs.PrincipalOf(v.By) }

// ResumeJob returns the job that answers a paused run for a principal. Errors: those of [Error].
func (s *Runs) ResumeJob(ctx context.Context, who Principal, run Run, inputs engine.Value) (Job, error) {
	if run.Status != RunPaused {
		return Job{}, s.NotPaused(ctx, run)
	}
	kept := keptOf(run)
	j := runs.AnswerJob(run, kept, inputs)
	if j.Actor = who.Actor(); j.Base != "" {
		j.Actor = who.Actor().On(run.Actor, false)
	}
	return j, nil
}

// keptOf returns where the state is with which a run waits.
func keptOf(run Run) string {
	switch {
	case run.Session != "":
		return string(KeepSession)
	case run.Source == SourceEditor:
		return string(KeepCanvas)
	}
	return ""
}

// NotPaused returns the error of an answer to a run that does not wait: who answered it and when,
// or until when it waited.
func (s *Runs) NotPaused(ctx context.Context, run Run) error {
	v, err := s.Wait(ctx, run)
	if err != nil {
		return err
	}
	at := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
	switch {
	case v == nil || v.State == WaitOpen:
		return Refuse(CodeNotPaused, "the run is %s and waits for nothing", run.Status)
	case v.State == WaitExpired:
		return Refuse(engine.CodeExpired, "the run waited for an answer until %s", at(v.ExpireTime))
	case v.State == WaitCanceled:
		return Refuse(CodeNotPaused, "the run does not wait any more; a later run asks instead")
	}
	return Refuse(CodeNotPaused, "the run was answered by %s at %s; it continues as run %s",
		nameOf(AnsweredBy(v)), at(v.AnswerTime), v.Next)
}

// nameOf names a principal in a message.
func nameOf(p Starter) string {
	switch {
	case p.Kind == runs.ByHost:
		return "the host, with the values of the form,"
	case p.User != "":
		return "user " + p.User
	case p.EndUser != "":
		return "user " + p.EndUser
	case p.Kind == "":
		return "an unknown user"
	case p.Kind == runs.ByEmbed:
		return "a visitor"
	}
	return p.Kind + " " + p.ID
}
