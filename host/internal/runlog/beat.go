package runlog

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/easel-canvas/easel/host/internal/broker"
)

// beat sends this host's heartbeat and takes over the runs of silent hosts.
func (l *Log) beat() {
	every := l.cfg.Lease / 4
	tick := time.NewTicker(every)
	defer tick.Stop()
	started := time.Now()
	l.sendHeartbeat(l.cfg.Name)
	if l.Alone() {
		// No other host can exist: all notes are from before the start.
		l.takeOrphans(func(string) bool { return true })
	}
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-l.ctx.Done():
			return
		}
		l.sendHeartbeat(l.cfg.Name)
		l.conn.CheckDisk()
		for _, host := range l.peers.takeSilent() {
			l.cfg.Log.Warn("host is silent, taking over its runs", "host", host)
			l.takeFrom(host)
		}
		if n%40 == 6 && time.Since(started) > l.cfg.Lease {
			// Hosts that died before this one started, or while no host watched.
			l.takeOrphans(func(host string) bool { return !l.peers.living(host) })
		}
	}
}

// sendHeartbeat sends a heartbeat; the next one makes up for a lost one.
func (l *Log) sendHeartbeat(text string) {
	if err := l.conn.NATS.Publish(l.conn.Subject("hb", l.host), []byte(text)); err != nil {
		l.cfg.Log.Warn("heartbeat was not sent", "err", err)
	}
}

func (l *Log) sayBye() { l.sendHeartbeat(bye) }

// answerWho answers a request for the hosts at work.
func (l *Log) answerWho(*nats.Msg) {
	if l.ctx.Err() == nil {
		l.sendHeartbeat(l.cfg.Name)
	}
}

// notifyLost notifies a host, which may only be slow, that it lost a run.
func (l *Log) notifyLost(host, run string) {
	if err := l.conn.NATS.Publish(l.conn.Subject("lost", host), []byte(run)); err != nil {
		l.cfg.Log.Warn("failed to notify host", "host", host, "err", err)
	}
}

// listen subscribes to the messages between hosts.
func (l *Log) listen() error {
	subs := map[string]nats.MsgHandler{
		l.conn.Subject("hb", "*"):      l.peers.heard,
		l.conn.Subject("lost", l.host): l.lost,
		l.conn.Subject("who"):          l.answerWho,
	}
	for subject, handle := range subs {
		if _, err := l.conn.NATS.Subscribe(subject, handle); err != nil {
			return broker.Fail(err, "subscribe to %s", subject)
		}
	}
	if err := l.keys.WatchCancels(l.cancelTask); err != nil {
		return err
	}
	return broker.Fail(l.conn.Flush(l.ctx), "subscribe")
}

// lost ends a lease that another host has taken.
func (l *Log) lost(msg *nats.Msg) {
	if e := l.leases.get(string(msg.Data)); e != nil {
		go func() {
			// The stream decides, not the sender of this message.
			last, _, err := l.lastBundle(e.ctx, e.Run.ID)
			if err == nil && last.owner != e.owner && last.owner != "" {
				e.leave(ErrFenced)
			}
		}()
	}
}

// takeOrphans queues the runs of all hosts with notes for which dead is true,
// and those of this host that it has no lease for.
func (l *Log) takeOrphans(dead func(host string) bool) {
	subjects, err := l.notes.subjects(l.ctx, "*")
	if err != nil {
		l.cfg.Log.Warn("cannot read notes", "err", err)
		return
	}
	for subject := range subjects {
		host, run := l.notes.parse(subject)
		if host == l.host && l.leases.get(run) != nil || host != l.host && !dead(host) {
			continue
		}
		if err := l.takeNote(subject); err != nil {
			l.cfg.Log.Warn("run is not taken over yet", "run", run, "host", host, "err", err)
		}
	}
}

// Held returns the runs that hosts, living or not, have notes of.
func (l *Log) Held() (map[string]bool, error) {
	subjects, err := l.notes.subjects(l.ctx, "*")
	if err != nil {
		return nil, broker.Fail(err, "held runs")
	}
	held := make(map[string]bool, len(subjects))
	for subject := range subjects {
		_, run := l.notes.parse(subject)
		held[run] = true
	}
	return held, nil
}

// Left returns the runs that had notes when this host started on an embedded
// server: their host has died, and this one queues them by itself. Their notes
// are removed by then, so that [Log.Held] may no longer list them.
func (l *Log) Left() map[string]bool { return l.left }

// takeFrom puts the runs of a dead host into the queue and removes its notes.
// Several survivors may do so at once: the queue takes each run once, and the
// fence decides in the end.
func (l *Log) takeFrom(host string) {
	subjects, err := l.notes.subjects(l.ctx, host)
	if err != nil {
		l.cfg.Log.Warn("cannot read notes", "host", host, "err", err)
		return
	}
	for subject := range subjects {
		if err := l.takeNote(subject); err != nil {
			l.cfg.Log.Warn("run is not taken over yet", "host", host, "err", err)
		}
	}
}

func (l *Log) takeNote(subject string) error {
	m, err := l.conn.Last(l.ctx, l.conn.Name("OWN"), subject)
	if err != nil || m == nil {
		return err
	}
	var run Run
	if err := json.Unmarshal(m.Data, &run); err != nil {
		return fmt.Errorf("note %s: %w", subject, broker.ErrDamaged)
	}
	run.Attempt++
	run.Deaths++
	if err := l.requeue(l.ctx, run, fmt.Sprintf("%s.%d", broker.Token(run.ID), m.Seq)); err != nil {
		return err
	}
	l.notes.delete(m.Seq)
	return nil
}
