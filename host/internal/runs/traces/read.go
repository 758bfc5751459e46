package traces

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// dayMillis is a day in milliseconds.
const dayMillis = 24 * 60 * 60 * 1000

// Trace returns the trace of an ended run as JSON lines: from its block, or from the run log while
// no block has it. Errors: [runs.ErrGone].
func (t *Traces) Trace(ctx context.Context, run store.Run) ([]byte, error) {
	trace, err := t.fromBlock(ctx, run)
	if !errors.Is(err, runs.ErrGone) {
		return trace, err
	}
	gone, failed := t.cfg.Store.Traces.Gone(ctx, run.Tenant, run.ID)
	if failed != nil || gone || run.Status == store.RunActive {
		return nil, errors.Join(failed, err)
	}
	records, failed := t.cfg.Log.Records(ctx, run.ID)
	begins := len(records) > 0 && records[0].Kind == runs.KindDocument
	if errors.Is(failed, broker.ErrGone) || failed == nil && !begins {
		return nil, err
	}
	if failed != nil {
		return nil, failed
	}
	sum := sha256.Sum256(records[0].Data)
	h := Header{
		Run: run.ID, Canvas: run.Canvas, Doc: hex.EncodeToString(sum[:]), Engine: t.cfg.Version, Ended: run.EndTime,
	}
	return Encode(nil, h, selected(records))
}

// fromBlock returns the trace of a run from its block.
func (t *Traces) fromBlock(ctx context.Context, run store.Run) ([]byte, error) {
	gone, err := t.cfg.Store.Traces.Gone(ctx, run.Tenant, run.ID)
	if err != nil {
		return nil, err
	}
	notKept := fmt.Errorf("run %q: %w", run.ID, runs.ErrGone)
	if gone {
		return nil, notKept
	}
	var b store.TraceBlock
	var raw []byte
	for range 2 { // a block may be rewritten between its entry and its bytes
		if b, err = t.blockOf(ctx, run); err != nil {
			return nil, err
		}
		if b.ID == "" {
			return nil, notKept
		}
		if raw, err = t.raw(ctx, b); err == nil {
			break
		}
	}
	if errors.Is(err, ErrNoBytes) { // its day was deleted since
		return nil, fmt.Errorf("%w: %w", notKept, err)
	}
	if err != nil {
		return nil, err
	}
	trace, ok := slice(raw, b.Runs, run.ID)
	if !ok {
		return nil, fmt.Errorf("run %q: not in its block: %w", run.ID, ErrFormat)
	}
	return trace, nil
}

// Size returns how many bytes reading a run takes from its block; 0 means that no block has it.
func (t *Traces) Size(ctx context.Context, run store.Run) (int64, error) {
	b, err := t.blockOf(ctx, run)
	return b.RawSize, err
}

// blockOf returns the block that has a run; the zero value means that no block has it.
func (t *Traces) blockOf(ctx context.Context, run store.Run) (store.TraceBlock, error) {
	return blockNear(ctx, t, run, dayMillis)
}

// blockNear is blockOf for a run whose block has its end, or another one within a slack.
func blockNear(ctx context.Context, t *Traces, run store.Run, slack int64) (store.TraceBlock, error) {
	// Ends are recorded once, but a former version or a takeover may have another time.
	for _, slack := range []int64{0, slack} {
		blocks, err := t.cfg.Store.Traces.Around(ctx, run.Tenant, run.Canvas, run.EndTime-slack, run.EndTime+slack)
		if err != nil {
			return store.TraceBlock{}, err
		}
		for _, b := range blocks {
			if bytes.Contains(append([]byte("\n"), b.Runs...), []byte("\n"+run.ID+" ")) {
				return b, nil
			}
		}
	}
	return store.TraceBlock{}, nil
}

// raw returns the bytes of a block before compression.
func (t *Traces) raw(ctx context.Context, b store.TraceBlock) ([]byte, error) {
	body, err := t.cfg.Bytes.Read(ctx, Place{b.Tenant, b.Day, b.Place, b.At, b.Size})
	if err != nil {
		return nil, err
	}
	return t.unseal(ctx, b.Tenant, body, blockPlace(b))
}

func (t *Traces) unseal(ctx context.Context, tenant string, body, place []byte) ([]byte, error) {
	seal, err := t.seal.of(ctx, tenant)
	if err != nil {
		return nil, err
	}
	packed, err := seal.Open(nil, nil, body, place)
	if err != nil {
		return nil, fmt.Errorf("sealed with another key, or damaged: %w", ErrFormat)
	}
	return unpack(packed)
}

// Records returns the records of a run that a trace has, as the run log had them, with the document
// first. Errors: [runs.ErrGone].
func (t *Traces) Records(ctx context.Context, run store.Run) ([]runlog.Record, error) {
	trace, err := t.fromBlock(ctx, run)
	if err != nil {
		return nil, err
	}
	h, records, err := Decode(trace)
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", run.ID, err)
	}
	body, err := t.cfg.Store.Traces.Document(ctx, run.Tenant, h.Doc)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("run %q: its document: %w", run.ID, runs.ErrGone)
	}
	if err != nil {
		return nil, err
	}
	doc, err := t.unseal(ctx, run.Tenant, body, docPlace(run.Tenant, h.Doc))
	if err != nil {
		return nil, fmt.Errorf("run %q: its document: %w", run.ID, err)
	}
	first := runlog.Record{Seq: 1, Kind: runs.KindDocument, Data: doc}
	if len(records) > 0 {
		first.At = records[0].At
	}
	return append([]runlog.Record{first}, records...), nil
}
