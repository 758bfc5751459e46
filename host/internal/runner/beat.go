package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// peer is another host as this one hears it.
type peer struct {
	heard time.Time
	beats uint64 // own beats that had come back when it was heard last
}

// silentBeats is how many own heartbeats must have come back without one of
// the other host. When the server is away both are silent, so nobody is taken
// for dead, and a burst of old heartbeats counts once.
const silentBeats = 3

// beat sends this host's heartbeat and looks after the others.
func (l *Log) beat() {
	every := l.cfg.Lease / 4
	tick := time.NewTicker(every)
	defer tick.Stop()
	started := time.Now()
	l.sayAlive(l.cfg.Name)
	if l.srv != nil {
		// Nobody else can be there: what has notes is from before the start.
		l.orphans(func(string) bool { return true })
	}
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-l.ctx.Done():
			return
		}
		l.sayAlive(l.cfg.Name)
		l.lookAtDisk()
		for _, host := range l.silent() {
			l.cfg.Log.Warn("host is silent, its runs are taken over", "host", host)
			l.takeFrom(host)
		}
		if n%40 == 6 && time.Since(started) > l.cfg.Lease {
			// Hosts that died before this one came, or while nobody watched.
			l.orphans(func(host string) bool { return !l.living(host) })
		}
	}
}

// bye is the last heartbeat of a host that stops; no host has that name.
const bye = "bye"

// sayAlive sends a heartbeat; a lost one is made good by the next.
func (l *Log) sayAlive(text string) {
	if err := l.nc.Publish(l.subject("hb", l.host), []byte(text)); err != nil {
		l.cfg.Log.Warn("heartbeat was not sent", "err", err)
	}
}

func (l *Log) sayBye() { l.sayAlive(bye) }

// asked answers somebody who wants to know who is there.
func (l *Log) asked(*nats.Msg) {
	if l.ctx.Err() == nil {
		l.sayAlive(l.cfg.Name)
	}
}

// sayLost tells a host that may be only slow that it lost a run.
func (l *Log) sayLost(host, run string) {
	if err := l.nc.Publish(l.subject("lost", host), []byte(run)); err != nil {
		l.cfg.Log.Warn("host was not told", "host", host, "err", err)
	}
}

// listen subscribes to what hosts say to each other.
func (l *Log) listen() error {
	subs := map[string]nats.MsgHandler{
		l.subject("hb", "*"):         l.heard,
		l.subject("lost", l.host):    l.lost,
		l.subject("who"):             l.asked,
		l.subject("keyup", "c", "*"): l.canceled,
	}
	for subject, handle := range subs {
		if _, err := l.nc.Subscribe(subject, handle); err != nil {
			return fail(err, "subscribe to %s", subject)
		}
	}
	return fail(l.flush(l.ctx), "subscribe")
}

func (l *Log) heard(msg *nats.Msg) {
	host := msg.Subject[strings.LastIndexByte(msg.Subject, '.')+1:]
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case host == l.host:
		if now.Sub(l.beaten) > l.cfg.Lease/8 {
			l.beats++
			l.beaten = now
		}
	case string(msg.Data) == bye:
		// Its runs are in the queue already.
		delete(l.hosts, host)
	default:
		l.hosts[host] = &peer{now, l.beats}
	}
}

// lost ends a lease that another host has taken.
func (l *Log) lost(msg *nats.Msg) {
	if e := l.lease(string(msg.Data)); e != nil {
		go func() {
			// The stream decides, not the messenger: writing nothing but asking.
			last, _, err := l.lastBundle(e.ctx, e.Run.ID)
			if err == nil && last.owner != e.owner && last.owner != "" {
				e.leave(ErrFenced)
			}
		}()
	}
}

// living says whether a host has been heard of within a lease.
func (l *Log) living(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return host == l.host || l.hosts[host] != nil
}

// silent takes out of the list the hosts whose lease has passed.
func (l *Log) silent() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for host, p := range l.hosts {
		if time.Since(p.heard) > l.cfg.Lease && l.beats > p.beats+silentBeats {
			out = append(out, host)
			delete(l.hosts, host)
		}
	}
	return out
}

// orphans takes the runs of all hosts with notes that dead says true of, and
// those of this host that it has lost sight of.
func (l *Log) orphans(dead func(host string) bool) {
	subjects, err := l.notes("*")
	if err != nil {
		l.cfg.Log.Warn("notes were not read", "err", err)
		return
	}
	for subject := range subjects {
		host, run := l.noteOf(subject)
		if host == l.host && l.lease(run) != nil || host != l.host && !dead(host) {
			continue
		}
		if err := l.takeNote(subject); err != nil {
			l.cfg.Log.Warn("run was not taken over yet", "run", run, "host", host, "err", err)
		}
	}
}

// noteOf is who works on what.
func (l *Log) noteOf(subject string) (host, run string) {
	host, run, _ = strings.Cut(strings.TrimPrefix(subject, l.subject("own", "")), ".")
	run, _ = untoken(run)
	return host, run
}

// Held are the runs that hosts, living or not, have notes of.
func (l *Log) Held() (map[string]bool, error) {
	subjects, err := l.notes("*")
	if err != nil {
		return nil, fail(err, "held runs")
	}
	held := make(map[string]bool, len(subjects))
	for subject := range subjects {
		_, run := l.noteOf(subject)
		held[run] = true
	}
	return held, nil
}

// Left are the runs that had notes when this host started on a server of its
// own: their host has died, and this one puts them into the queue by itself.
// Notes are gone then, so that [Log.Held] may no longer tell.
func (l *Log) Left() map[string]bool { return l.left }

// notes lists the notes of a host.
func (l *Log) notes(host string) (map[string]uint64, error) {
	info, err := retry(l.ctx, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return l.own.Info(ctx, jetstream.WithSubjectFilter(l.subject("own", host, "*")))
	})
	if err != nil {
		return nil, err
	}
	return info.State.Subjects, nil
}

// takeFrom puts the runs of a dead host into the queue and removes its notes.
// Several survivors may do so at once: the queue takes each run once, and the
// fence decides in the end.
func (l *Log) takeFrom(host string) {
	subjects, err := l.notes(host)
	if err != nil {
		l.cfg.Log.Warn("notes were not read", "host", host, "err", err)
		return
	}
	for subject := range subjects {
		if err := l.takeNote(subject); err != nil {
			l.cfg.Log.Warn("run was not taken over yet", "host", host, "err", err)
		}
	}
}

func (l *Log) takeNote(subject string) error {
	m, err := l.last(l.ctx, l.cfg.Prefix+"_OWN", subject)
	if err != nil || m == nil {
		return err
	}
	var run Run
	if err := json.Unmarshal(m.data, &run); err != nil {
		return fmt.Errorf("note %s: %w", subject, ErrDamaged)
	}
	run.Attempt++
	run.Deaths++
	if err := l.requeue(l.ctx, run, fmt.Sprintf("%s.%d", token(run.ID), m.seq)); err != nil {
		return err
	}
	l.deleteMessage("OWN", m.seq)
	return nil
}
