package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/runs/traces"
	"github.com/easel-canvas/easel/host/internal/store"
)

// TraceSettings bounds the traces of a tenant by days and bytes.
type TraceSettings = traces.Settings

// Bounds of [TraceSettings].
const (
	mostTraceDays  = 3650
	leastTraceSize = 1 << 20
)

// errNotTraced is the error of hosts that keep no traces.
var errNotTraced = fmt.Errorf("traces: %w", runs.ErrGone)

// Kept returns the records of an ended run whose log is deleted: the document and the events, as
// the log had them. Errors: [ErrGone].
func (s *Runs) Kept(ctx context.Context, run Run) ([]Record, error) {
	if s.traces == nil {
		return nil, errNotTraced
	}
	if err := s.reserveTrace(ctx, run); err != nil {
		return nil, err
	}
	return s.traces.Records(ctx, run)
}

// traceFactor multiplies the size of a trace to its memory, with the response made from it.
const traceFactor = 2

// reserveTrace takes what it needs to read the trace of a run.
func (s *Runs) reserveTrace(ctx context.Context, run Run) error {
	size, err := s.traces.Size(ctx, run)
	if err != nil {
		return err
	}
	return reserve(ctx, traceFactor*size)
}

// Trace returns an ended run as JSON lines. Errors: [ErrGone], [ErrRunning].
func (s *Runs) Trace(ctx context.Context, run Run) ([]byte, error) {
	if run.Status == RunActive {
		return nil, ErrRunning
	}
	if s.traces == nil {
		return nil, errNotTraced
	}
	if err := s.reserveTrace(ctx, run); err != nil {
		return nil, err
	}
	return s.traces.Trace(ctx, run)
}

// ErrRunning refuses the trace of a run that has not ended.
var ErrRunning = Refuse(CodeRunning, "the run has not ended; follow its events")

// RunDocument is the document of a run.
type RunDocument struct {
	Hash string // SHA-256
	DSL  []byte
}

// Document returns the document of a run: the copy of its session, a version, or the draft as it
// was then. Errors: [ErrGone].
func (s *Runs) Document(ctx context.Context, run Run) (RunDocument, error) {
	records, err := s.Records(ctx, run)
	if err != nil {
		return RunDocument{}, err
	}
	if len(records) == 0 || records[0].Kind != runs.KindDocument {
		return RunDocument{}, fmt.Errorf("run %q: %w", run.ID, ErrGone)
	}
	doc := records[0].Data
	sum := sha256.Sum256(doc)
	return RunDocument{hex.EncodeToString(sum[:]), doc}, nil
}

// RunHead is the beginning of what a run was asked and has answered.
type RunHead = traces.Head

// RunKept is whether a run is kept, or why it is not.
type RunKept = traces.Why

// NotKeptReason returns why a run is not kept, for callers.
func NotKeptReason(why RunKept) string {
	switch why {
	case traces.Deleted:
		return "they were deleted with its session or its history"
	case traces.Expired:
		return "it is older than the days of the settings of kept runs"
	case traces.TooLarge:
		return "later runs needed the bytes of the settings of kept runs"
	case traces.DiskFull:
		return "less than 5 % of the disk was free when it ended"
	case traces.Switched:
		return "the settings keep no runs"
	case traces.Pending:
		return "they are not stored yet, try again"
	}
	return "it ended before runs were kept, or the host was restored from a backup"
}

// RunKeepsAll means that a run is kept.
const RunKeepsAll = traces.Kept

// RunFacts complete the row of a run in a list.
type RunFacts struct {
	Head RunHead
	Kept RunKept // "" for a run that has not ended
}

// Facts returns the heads of runs that a principal may list, and whether they are kept. A run that
// has read a document which the principal may not read has no head.
func (s *Runs) Facts(ctx context.Context, who Principal, list []Run) (map[string]RunFacts, error) {
	out := map[string]RunFacts{}
	ids := make([]string, len(list))
	for i, run := range list {
		ids[i] = run.ID
	}
	shut, err := shutFrom(ctx, s.store, who, ids...)
	if err != nil || s.traces == nil {
		return nil, err
	}
	heads, err := s.traces.Heads(ctx, list)
	if err != nil {
		return nil, err
	}
	var missing []Run
	for _, run := range list {
		h, kept := heads[run.ID]
		switch {
		case run.Status == RunActive:
			if h, err = s.asked(ctx, run); err != nil {
				return nil, err
			}
			out[run.ID] = RunFacts{Head: h}
		case kept:
			out[run.ID] = RunFacts{Head: h, Kept: RunKeepsAll}
		default:
			missing = append(missing, run)
		}
		if f := out[run.ID]; shut[run.ID] {
			f.Head = RunHead{}
			out[run.ID] = f
		}
	}
	why, err := traces.Missing(ctx, s.traces, who.Tenant, missing)
	for id, w := range why {
		out[id] = RunFacts{Kept: w}
	}
	return out, err
}

// asked returns the question of a run that has not ended.
func (s *Runs) asked(ctx context.Context, run Run) (RunHead, error) {
	row, err := s.store.Runs.Get(ctx, run.Tenant, run.ID) // lists have no inputs
	if errors.Is(err, ErrNotFound) || err == nil && len(row.Input) == 0 {
		return RunHead{}, nil // it was forgotten, or has ended, since
	}
	if err != nil {
		return RunHead{}, err
	}
	return traces.HeadOfJob(row.Input)
}

// KeptState returns whether an ended run is kept, or why it is not.
func (s *Runs) KeptState(ctx context.Context, run Run) (RunKept, error) {
	if s.traces == nil {
		return traces.Switched, nil
	}
	return s.traces.State(ctx, run)
}

// KeepsRuns returns whether runs of a tenant that end now are kept, or why they are not.
func (s *Runs) KeepsRuns(tenant string) RunKept {
	if s.traces == nil {
		return traces.Switched
	}
	return s.traces.Stopped(tenant)
}

// Records returns the records of a run, those of its trace when its log is deleted. Errors:
// [ErrGone].
func (s *Runs) Records(ctx context.Context, run Run) ([]Record, error) {
	records, err := s.runs.Records(ctx, run.ID)
	missing := errors.Is(err, ErrGone) || err == nil && len(records) == 0
	if !missing || run.Status == RunActive {
		return records, err
	}
	return s.Kept(ctx, run)
}

// TraceSettings returns the retention of the traces of a tenant.
func (s *Runs) TraceSettings(ctx context.Context, tenant string) (TraceSettings, error) {
	if s.traces == nil {
		return TraceSettings{}, nil
	}
	return s.traces.Settings(ctx, tenant)
}

// TraceUse is the size of the traces of a canvas of one day.
type TraceUse = store.TraceUse

// TraceUses returns the sizes of the traces of a tenant, oldest day first.
func (s *Runs) TraceUses(ctx context.Context, tenant string) ([]TraceUse, error) {
	if s.traces == nil {
		return nil, nil
	}
	return s.traces.Uses(ctx, tenant)
}

// SetTraceSettings changes the retention of the traces of a tenant. Errors: those of [Error].
func (s *Runs) SetTraceSettings(ctx context.Context, tenant string, set TraceSettings) error {
	switch {
	case s.traces == nil:
		return errNotTraced
	case set.Days < 0 || set.Days > mostTraceDays:
		return BadArgument("days must be 0 to %d, not %d", mostTraceDays, set.Days)
	case set.Days > 0 && set.Bytes < leastTraceSize:
		return BadArgument("bytes must be at least %d, not %d", leastTraceSize, set.Bytes)
	}
	return s.traces.SetSettings(ctx, tenant, set)
}
