package api

import (
	"maps"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Limit bounds a rate: Burst at once, PerSecond over time.
type Limit struct{ PerSecond, Burst float64 }

// bucket holds what is left of a limit.
type bucket struct {
	limit Limit
	left  float64
	at    time.Time // when left was true
}

// refill brings the bucket up to a time.
func (b *bucket) refill(now time.Time) {
	b.left = min(b.limit.Burst, b.left+now.Sub(b.at).Seconds()*b.limit.PerSecond)
	b.at = now
}

// Throttle bounds how often something that has a name may happen. The zero
// value is ready. Each host counts for itself.
type Throttle struct {
	Now  func() time.Time // nil means time.Now
	mu   sync.Mutex
	list map[string]*bucket
}

// MaxNames bounds how many names a Throttle remembers. Beyond it, names that
// have been quiet are forgotten, which changes nothing for them.
const MaxNames = 10_000

// Take takes one turn of a name. It returns 0, or how long to wait before the next attempt.
func (t *Throttle) Take(name string, l Limit) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	b := t.list[name]
	if b == nil || b.limit != l {
		t.sweep(now)
		b = &bucket{limit: l, left: l.Burst, at: now}
		t.list[name] = b
	}
	if b.refill(now); b.left < 1 {
		return max(1, time.Duration((1-b.left)/l.PerSecond*float64(time.Second)))
	}
	b.left--
	return 0
}

func (t *Throttle) now() time.Time {
	if t.Now == nil {
		return time.Now()
	}
	return t.Now()
}

// Return returns a turn that was taken.
func (t *Throttle) Return(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b := t.list[name]; b != nil {
		b.left++ // refill keeps it below the burst
	}
}

// Forget restores the whole limit of a name.
func (t *Throttle) Forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.list, name)
}

// Names lists the names that are remembered.
func (t *Throttle) Names() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.list))
}

// sweep makes room. The caller holds mu.
func (t *Throttle) sweep(now time.Time) {
	if t.list == nil {
		t.list = map[string]*bucket{}
	}
	if len(t.list) < MaxNames {
		return
	}
	for name, b := range t.list {
		if b.refill(now); b.left >= b.limit.Burst {
			delete(t.list, name)
		}
	}
	if len(t.list) < MaxNames {
		return
	}
	for name := range t.list { // all are busy: a tenth is reset, so that a flood of names does not sweep each time
		if len(t.list) < MaxNames*9/10 {
			return
		}
		delete(t.list, name)
	}
}

// rates bound the requests of keys.
type rates struct {
	perSecond float64 // for keys that set no rate; 0 lets all pass
	keys      Throttle
}

// key takes a request of a caller. perMinute is the rate of its key, 0 for
// the host's. A tenth of a minute's requests may come at once.
func (r *rates) key(name string, perMinute int64) time.Duration {
	if perMinute > 0 {
		return r.keys.Take(name, Limit{float64(perMinute) / 60, float64(max(1, perMinute/10))})
	}
	if r.perSecond <= 0 {
		return 0
	}
	return r.keys.Take(name, Limit{r.perSecond, math.Trunc(max(1, r.perSecond))})
}

// NetworkOf is the part of an address that one person holds: all of an IPv4
// address, the first half of an IPv6 one.
func NetworkOf(client netip.Addr) string {
	if !client.Is6() {
		return client.String()
	}
	p, err := client.Prefix(64)
	if err != nil {
		return client.String()
	}
	return p.String()
}

// TooMany is the response to a request beyond a limit.
func TooMany(wait time.Duration, message string) *Failure {
	f := stopped(KindTooMany, "%s", message)
	f.After = wait
	return f
}

// SetRetryAfter sets the time until a retry, in whole seconds.
func SetRetryAfter(h http.Header, wait time.Duration) {
	if wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
}
