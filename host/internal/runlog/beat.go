package runlog

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// heartbeat sends this host's heartbeats and receives those of other hosts.
type heartbeat struct {
	ctx     context.Context // ends with the log
	conn    *broker.Conn
	name    string // readable name
	peers   *peers
	leases  *leases
	records *records
	cancels *cancels
	orphans *orphans
	logger  *slog.Logger
}

// beat sends this host's heartbeat and takes over the runs of silent hosts.
func (h *heartbeat) beat() {
	every := h.peers.lease / 4
	tick := time.NewTicker(every)
	defer tick.Stop()
	started := time.Now()
	h.sendHeartbeat(h.name)
	if h.conn.Embedded() {
		// No other host can exist: all notes are from before the start.
		h.orphans.takeOrphans(func(string) bool { return true })
	}
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-h.ctx.Done():
			return
		}
		h.sendHeartbeat(h.name)
		h.conn.CheckDisk()
		for _, host := range h.peers.takeSilent() {
			h.logger.Warn("host is silent, taking over its runs", "host", host)
			h.orphans.takeFrom(host)
		}
		if n%40 == 6 && time.Since(started) > h.peers.lease {
			// Hosts that died before this one started, or while no host watched.
			h.orphans.takeOrphans(func(host string) bool { return !h.peers.living(host) })
		}
	}
}

// sendHeartbeat sends a heartbeat; the next one replaces a lost one.
func (h *heartbeat) sendHeartbeat(text string) {
	if err := h.conn.NATS.Publish(h.conn.Subject("hb", h.peers.host), []byte(text)); err != nil {
		h.logger.Warn("heartbeat was not sent", "err", err)
	}
}

func (h *heartbeat) sayBye() { h.sendHeartbeat(bye) }

// answerWho answers a request for the hosts at work.
func (h *heartbeat) answerWho(*nats.Msg) {
	if h.ctx.Err() == nil {
		h.sendHeartbeat(h.name)
	}
}

// notifyLost notifies a host, which may only be slow, that it lost a run.
func (h *heartbeat) notifyLost(host, run string) {
	if err := h.conn.NATS.Publish(h.conn.Subject("lost", host), []byte(run)); err != nil {
		h.logger.Warn("failed to notify host", "host", host, "err", err)
	}
}

// listen subscribes to the messages between hosts.
func (h *heartbeat) listen() error {
	subs := map[string]nats.MsgHandler{
		h.conn.Subject("hb", "*"):            h.peers.heard,
		h.conn.Subject("lost", h.peers.host): h.lost,
		h.conn.Subject("who"):                h.answerWho,
	}
	for subject, handle := range subs {
		if _, err := h.conn.NATS.Subscribe(subject, handle); err != nil {
			return broker.Fail(err, "subscribe to %s", subject)
		}
	}
	if err := h.cancels.keys.WatchCancels(h.cancels.cancelTask); err != nil {
		return err
	}
	return broker.Fail(h.conn.Flush(h.ctx), "subscribe")
}

// lost ends a lease that another host has taken.
func (h *heartbeat) lost(msg *nats.Msg) {
	if e := h.leases.get(string(msg.Data)); e != nil {
		go func() {
			// The stream decides, not the sender of this message.
			last, _, err := h.records.lastBundle(e.ctx, e.Run.ID)
			if err == nil && last.owner != e.owner && last.owner != "" {
				e.leave(ErrFenced)
			}
		}()
	}
}
