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
