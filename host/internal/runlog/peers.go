package runlog

import (
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// peers are the other hosts, by their heartbeats.
type peers struct {
	host  string        // this one
	lease time.Duration // longest time without a heartbeat

	mu    sync.Mutex
	hosts map[string]peer
	beats uint64    // own heartbeats that came back, at their pace
	last  time.Time // time of the last of them
}

type peer struct {
	heard time.Time
	beats uint64 // own heartbeats that had come back at the host's last one
}

// silentBeats is the number of own heartbeats that must have come back without one of the other
// host. If the server is unavailable both are silent, so neither counts as dead, and a burst of old
// heartbeats counts once.
const silentBeats = 3

// bye is the last heartbeat of a host that stops; no host has that name.
const bye = "bye"

// heard handles a heartbeat.
func (p *peers) heard(msg *nats.Msg) {
	host := msg.Subject[strings.LastIndexByte(msg.Subject, '.')+1:]
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case host == p.host:
		if now.Sub(p.last) > p.lease/8 {
			p.beats++
			p.last = now
		}
	case string(msg.Data) == bye:
		// Its runs are in the queue already.
		delete(p.hosts, host)
	default:
		if p.hosts == nil {
			p.hosts = map[string]peer{}
		}
		p.hosts[host] = peer{now, p.beats}
	}
}

// living reports whether a host has sent a heartbeat within a lease.
func (p *peers) living(host string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.hosts[host]
	return known || host == p.host
}

// takeSilent removes and returns the hosts whose lease has passed.
func (p *peers) takeSilent() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for host, v := range p.hosts {
		if time.Since(v.heard) > p.lease && p.beats > v.beats+silentBeats {
			out = append(out, host)
			delete(p.hosts, host)
		}
	}
	return out
}
