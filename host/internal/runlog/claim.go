package runlog

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/nats-io/nuid"
)

// Claim claims a new run for this host. Its id must not have been used before, which the first
// append detects. If this host dies, the run is continued by another, or on the same directory by
// the next.
func (l *Log) Claim(ctx context.Context, run Run) (*Lease, error) {
	run.Attempt, run.Failures = 1, 0
	e, err := l.open(ctx, run, bundle{first: 1}, 0)
	if err != nil {
		return nil, broker.Fail(err, "claim run %q", run.ID)
	}
	e.held.Store(true)
	return e, nil
}

// open writes the note and creates the lease that continues after a bundle.
func (l *Log) open(ctx context.Context, run Run, last bundle, seq uint64) (*Lease, error) {
	if err := context.Cause(l.ctx); err != nil {
		return nil, err
	}
	e := &Lease{Run: run, Attempt: run.Attempt, log: l, token: broker.Token(run.ID), last: seq, next: last.next()}
	e.owner = l.host + "." + nuid.Next()
	e.first, e.tail.base = e.next, e.next
	if e.first == 1 {
		e.collected = newCollection(l.cfg.Collect)
	}
	e.ctx, e.cancel = context.WithCancelCause(l.ctx)
	if !l.leases.add(e) {
		return nil, ErrActive
	}
	var err error
	if run.Persisted && l.Alone() {
		err = e.noteLater()
	} else {
		err = e.putNote(ctx)
	}
	if err != nil {
		l.notes.book.forget(e)
		e.retire(err) // its readers wait for the next owner
		return nil, err
	}
	return e, nil
}

// take continues a run of which only the data is known.
//
// Errors: [ErrEnded]; [ErrActive] when an active host owns it; [ErrFenced] when another host was
// faster. After any other error the run stays unclaimed.
func (l *Log) take(ctx context.Context, run Run) (*Lease, error) {
	last, seq, err := l.lastBundle(ctx, run.ID)
	switch {
	case err != nil:
		return nil, err
	case last.end:
		return nil, ErrEnded
	}
	if e := l.leases.get(run.ID); e != nil {
		return nil, e.keep(ctx, run)
	}
	if last.owner != run.From && l.busy(ctx, run.ID, last.owner) {
		return nil, ErrActive
	}
	run.Attempt, run.From = max(run.Attempt, last.attempt+1, 1), ""
	e, err := l.open(ctx, run, last, seq)
	if errors.Is(err, ErrActive) {
		return nil, errClaiming
	}
	if err != nil {
		return nil, err
	}
	if err := e.claim(ctx); err != nil {
		e.leave(err)
		return nil, err
	}
	e.held.Store(true)
	if host := hostOf(last.owner); host != "" && host != l.host {
		l.heartbeat.notifyLost(host, run.ID)
	}
	l.checkCancel(ctx, e)
	return e, nil
}

// claim stores a bundle without records, after which no other owner can write.
func (e *Lease) claim(ctx context.Context) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	b := bundle{owner: e.owner, attempt: e.Attempt, first: e.next}
	_, err := broker.Retry(ctx, func(ctx context.Context) (any, error) { return nil, e.send(ctx, b) })
	if !broker.Outdated(err) {
		return err
	}
	// The claim may be stored and its acknowledgement lost.
	stored, seq, err := e.log.lastBundle(ctx, e.Run.ID)
	if err != nil {
		return err
	}
	if stored.owner != e.owner {
		return ErrFenced
	}
	e.last = seq
	return nil
}

// keep marks the run as active, and writes the note again if other hosts considered this one dead.
func (e *Lease) keep(ctx context.Context, run Run) error {
	if !e.held.Load() {
		return errClaiming
	}
	if run.From == e.owner {
		if err := e.putNote(ctx); err != nil {
			return err
		}
	}
	return ErrActive
}

// busy reports whether an active host has a note of the run.
func (l *Log) busy(ctx context.Context, run, owner string) bool {
	host := hostOf(owner)
	if host == "" || host == l.host || !l.peers.living(host) {
		return false
	}
	m, err := l.conn.Last(ctx, l.conn.Name("OWN"), l.notes.subject(host, broker.Token(run)))
	return err == nil && m != nil
}

// hostOf returns the host in an owner's name, "" if it has no host.
func hostOf(owner string) string {
	for i := range len(owner) {
		if owner[i] == '.' {
			return owner[:i]
		}
	}
	return ""
}

// Ended reports whether a run is known to have ended, and the position of its last record; a run
// without stored records has the zero position.
func (s *records) Ended(ctx context.Context, run string) (Pos, bool, error) {
	b, seq, err := s.lastBundle(ctx, run)
	return Pos{b.next() - 1, seq}, b.end, broker.Fail(err, "run %q", run)
}
