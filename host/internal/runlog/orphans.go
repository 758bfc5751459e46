package runlog

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// orphans queues the runs of lost hosts by their notes.
type orphans struct {
	ctx    context.Context // ends with the log
	conn   *broker.Conn
	notes  *notes
	leases *leases
	queue  *queue
	left   map[string]bool // see Left
	logger *slog.Logger
}

// takeOrphans queues the runs of all hosts with notes for which dead is true,
// and those of this host that it has no lease for.
func (o *orphans) takeOrphans(dead func(host string) bool) {
	subjects, err := o.notes.subjects(o.ctx, "*")
	if err != nil {
		o.logger.Warn("cannot read notes", "err", err)
		return
	}
	for subject := range subjects {
		host, run := o.notes.parse(subject)
		if host == o.notes.host && o.leases.get(run) != nil || host != o.notes.host && !dead(host) {
			continue
		}
		if err := o.takeNote(subject); err != nil {
			o.logger.Warn("run is not taken over yet", "run", run, "host", host, "err", err)
		}
	}
}

// Held returns the runs with notes, of active and lost hosts.
func (o *orphans) Held() (map[string]bool, error) {
	subjects, err := o.notes.subjects(o.ctx, "*")
	if err != nil {
		return nil, broker.Fail(err, "held runs")
	}
	held := make(map[string]bool, len(subjects))
	for subject := range subjects {
		_, run := o.notes.parse(subject)
		held[run] = true
	}
	return held, nil
}

// Left returns the runs that had notes when this host started on an embedded
// server: their host has died, and this one queues them. Their notes are removed by then, so that
// [Log.Held] may no longer list them.
func (o *orphans) Left() map[string]bool { return o.left }

// takeFrom puts the runs of a dead host into the queue and removes its notes.
// Several survivors may do so at once: the queue takes each run once, and the fence ensures one
// owner.
func (o *orphans) takeFrom(host string) {
	subjects, err := o.notes.subjects(o.ctx, host)
	if err != nil {
		o.logger.Warn("cannot read notes", "host", host, "err", err)
		return
	}
	for subject := range subjects {
		if err := o.takeNote(subject); err != nil {
			o.logger.Warn("run is not taken over yet", "host", host, "err", err)
		}
	}
}

func (o *orphans) takeNote(subject string) error {
	m, err := o.conn.Last(o.ctx, o.conn.Name("OWN"), subject)
	if err != nil || m == nil {
		return err
	}
	var run Run
	if err := json.Unmarshal(m.Data, &run); err != nil {
		return fmt.Errorf("note %s: %w", subject, broker.ErrDamaged)
	}
	run.Attempt++
	run.Failures++
	if err := o.queue.put(o.ctx, run, fmt.Sprintf("%s.%d", broker.Token(run.ID), m.Seq)); err != nil {
		return err
	}
	o.notes.delete(m.Seq)
	return nil
}
