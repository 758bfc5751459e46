package runs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runlog"
)

// past is the state of a run that another host started, as read from its log.
type past struct {
	doc     []byte
	said    *Transcript     // as of before records
	records []runlog.Record // the first of them that matters is a snapshot of the engine
}

// past reads a run from the log: the last [runlog.Lease.Snapshot] and the records after it, or
// everything without a snapshot or when the watcher reads all.
func (t *takeovers) past(ctx context.Context, lease *runlog.Lease) (p past, err error) {
	var check runlog.Checkpoint
	if t.readAll {
		check.Records, err = t.log.Records(ctx, lease.Run.ID)
	} else {
		check, err = lease.Checkpoint(ctx)
	}
	p.records, p.said = check.Records, &Transcript{}
	if err != nil || check.Snapshot == nil && len(p.records) == 0 {
		return p, err
	}
	if check.Snapshot != nil {
		p.doc, p.said, err = readSummary(check.Snapshot)
		return p, err
	}
	if p.records[0].Kind != KindDocument {
		return p, fmt.Errorf("run %q: the log does not begin with its document", lease.Run.ID)
	}
	p.doc = p.records[0].Data
	return p, nil
}

// snapshot stores the engine's held snapshot, together with a summary of the records before it, so
// that a host that takes the run over needs to read nothing else. The engine decides how often:
// every so many KB of checkpoints.
func (wr *writer) snapshot() error {
	wr.midway = false
	held := wr.held
	wr.held = nil
	if err := wr.store(); err != nil {
		return err
	}
	before, err := wr.lease.Append(wr.ctx)
	if err != nil {
		return err
	}
	if err := wr.store(held...); err != nil {
		return err
	}
	err = wr.lease.Snapshot(wr.ctx, before, appendSummary(nil, wr.doc, wr.said))
	if errors.Is(err, broker.ErrFull) {
		return nil // it only saves reading
	}
	return err
}

// A summary is the document with its length before it, and the transcript as
// JSON.
func appendSummary(dst, doc []byte, said *Transcript) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(doc)))
	return said.value().AppendJSON(append(dst, doc...))
}

func readSummary(data []byte) (doc []byte, said *Transcript, err error) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n > uint64(len(data)-size) {
		return nil, nil, errors.New("the snapshot of the run is damaged")
	}
	data = data[size:]
	v, err := engine.ParseJSON(data[n:])
	if err != nil {
		return nil, nil, fmt.Errorf("the snapshot of the run is damaged: %w", err)
	}
	return data[:n:n], readTranscript(v), nil
}
