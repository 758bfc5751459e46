package api

import (
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// limit is how often something may happen: burst times at once, perSecond over time.
type limit struct{ perSecond, burst float64 }

// bucket holds what is left of a limit.
type bucket struct {
	limit limit
	left  float64
	at    time.Time // when left was true
}

// refill brings the bucket up to a time.
func (b *bucket) refill(now time.Time) {
	b.left = min(b.limit.burst, b.left+now.Sub(b.at).Seconds()*b.limit.perSecond)
	b.at = now
}

// throttle bounds how often something that has a name may happen. The zero
// value is ready. Each host counts for itself.
type throttle struct {
	mu   sync.Mutex
	list map[string]*bucket
}

// mostNames bounds how many names a throttle remembers. Beyond it, names that
// have been quiet are forgotten, which changes nothing for them.
const mostNames = 10_000

// take takes one turn of a name. It returns 0, or how long to wait before the next attempt.
func (t *throttle) take(name string, l limit) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	b := t.list[name]
	if b == nil || b.limit != l {
		t.sweep(now)
		b = &bucket{limit: l, left: l.burst, at: now}
		t.list[name] = b
	}
	if b.refill(now); b.left < 1 {
		return max(1, time.Duration((1-b.left)/l.perSecond*float64(time.Second)))
	}
	b.left--
	return 0
}

// give returns a turn that was taken.
func (t *throttle) give(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b := t.list[name]; b != nil {
		b.left++ // refill keeps it below the burst
	}
}

// forget gives a name its whole limit back.
func (t *throttle) forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.list, name)
}

// sweep makes room. The caller holds mu.
func (t *throttle) sweep(now time.Time) {
	if t.list == nil {
		t.list = map[string]*bucket{}
	}
	if len(t.list) < mostNames {
		return
	}
	for name, b := range t.list {
		if b.refill(now); b.left >= b.limit.burst {
			delete(t.list, name)
		}
	}
	if len(t.list) < mostNames {
		return
	}
	for name := range t.list { // all are busy: a tenth is reset, so that a flood of names does not sweep each time
		if len(t.list) < mostNames*9/10 {
			return
		}
		delete(t.list, name)
	}
}

// rates bound the requests of keys.
type rates struct {
	perSecond float64 // for keys without a rate of their own; 0 lets all pass
	keys      throttle
}

// key takes a request of a caller. perMinute is the rate of its key, 0 for
// the host's. A tenth of a minute's requests may come at once.
func (r *rates) key(name string, perMinute int64) time.Duration {
	if perMinute > 0 {
		return r.keys.take(name, limit{float64(perMinute) / 60, float64(max(1, perMinute/10))})
	}
	if r.perSecond <= 0 {
		return 0
	}
	return r.keys.take(name, limit{r.perSecond, math.Trunc(max(1, r.perSecond))})
}

// networkOf is the part of an address that one person holds: all of an IPv4
// address, the first half of an IPv6 one.
func networkOf(client netip.Addr) string {
	if !client.Is6() {
		return client.String()
	}
	p, err := client.Prefix(64)
	if err != nil {
		return client.String()
	}
	return p.String()
}

// tooMany is the answer to somebody who should wait.
func tooMany(wait time.Duration, message string) *failure {
	return &failure{code: codeBad, message: message, status: http.StatusTooManyRequests, after: wait}
}

// setRetryAfter tells in whole seconds when to come back.
func setRetryAfter(h http.Header, wait time.Duration) {
	if wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
}
