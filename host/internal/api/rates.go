package api

import (
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// throttle bounds how often something that has a name may happen. The zero
// value is ready. Each host counts for itself.
type throttle struct {
	mu   sync.Mutex
	list map[string]*rate.Limiter
}

// mostNames bounds how many names a throttle remembers. Beyond it, names that
// have been quiet are forgotten, which changes nothing for them.
const mostNames = 10_000

// take asks for one turn of a name: perSecond, burst at once. It gives 0, or how
// long to wait before asking again.
func (t *throttle) take(name string, perSecond float64, burst int) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.list[name]
	if l == nil || l.Limit() != rate.Limit(perSecond) || l.Burst() != burst {
		t.sweep()
		l = rate.NewLimiter(rate.Limit(perSecond), burst)
		t.list[name] = l
	}
	r := l.Reserve()
	wait := r.Delay()
	if wait > 0 {
		r.Cancel()
	}
	return wait
}

// sweep makes room. The caller holds mu.
func (t *throttle) sweep() {
	if t.list == nil {
		t.list = map[string]*rate.Limiter{}
	}
	if len(t.list) < mostNames {
		return
	}
	for name, l := range t.list {
		if l.Tokens() >= float64(l.Burst()) {
			delete(t.list, name)
		}
	}
	for name := range t.list { // all are busy: some start anew
		if len(t.list) < mostNames {
			return
		}
		delete(t.list, name)
	}
}

// rates are the API's throttles.
type rates struct {
	perSecond float64 // for keys without a rate of their own; 0 lets all pass
	keys      throttle
	addresses throttle // attempts to log in, by address
	accounts  throttle // and by account
}

// key asks for a request of a caller. perMinute is the rate of its key, 0 for
// the host's. A tenth of a minute's requests may come at once.
func (r *rates) key(name string, perMinute int64) time.Duration {
	if perMinute > 0 {
		return r.keys.take(name, float64(perMinute)/60, int(max(1, perMinute/10)))
	}
	if r.perSecond <= 0 {
		return 0
	}
	return r.keys.take(name, r.perSecond, int(max(1, r.perSecond)))
}

// login asks for an attempt to log in: one per second from one address and one
// per ten seconds into one account, ten and twenty at once.
func (r *rates) login(client netip.Addr, account string) time.Duration {
	if wait := r.addresses.take(networkOf(client), 1, 10); wait > 0 {
		return wait
	}
	return r.accounts.take(account, 0.1, 20)
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
