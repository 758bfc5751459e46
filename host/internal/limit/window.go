package limit

import "time"

const (
	minute = time.Minute
	// grain is the span of requests that share an entry of a window. An entry counts until a
	// minute after its last request, so a limit may hold for up to this much longer.
	grain = 100 * time.Millisecond
)

// window counts the requests and tokens of the last minute.
type window struct {
	entries  []entry // oldest first
	requests int
	tokens   int64
}

// entry counts the requests that began from first to last.
type entry struct {
	first, last time.Time
	requests    int
	tokens      int64
}

// expire drops requests that began a minute ago or earlier.
func (w *window) expire(now time.Time) {
	n := 0
	for n < len(w.entries) && now.Sub(w.entries[n].last) >= minute {
		w.requests -= w.entries[n].requests
		w.tokens -= w.entries[n].tokens
		n++
	}
	w.entries = w.entries[n:]
}

// add counts a request that begins now.
func (w *window) add(now time.Time, requests int, tokens int64) {
	w.requests += requests
	w.tokens += tokens
	if n := len(w.entries); n > 0 && now.Sub(w.entries[n-1].first) < grain {
		e := &w.entries[n-1]
		e.last, e.requests, e.tokens = now, e.requests+requests, e.tokens+tokens
		return
	}
	w.entries = append(w.entries, entry{now, now, requests, tokens})
}

// refund takes back tokens that were counted at a time; without effect once that is a minute ago.
func (w *window) refund(at time.Time, tokens int64) {
	for i := range w.entries {
		e := &w.entries[i]
		if at.Before(e.first) || at.After(e.last) {
			continue
		}
		tokens = min(tokens, e.tokens)
		e.tokens -= tokens
		w.tokens -= tokens
		return
	}
}

// free returns when a request with so many tokens fits: now, or a time after it. A request that is
// larger than the limit fits when no other tokens are counted.
func (w *window) free(now time.Time, limits Limits, tokens int64) time.Time {
	requests, used := w.requests, w.tokens
	fits := func() bool {
		return (limits.Requests == 0 || requests < limits.Requests) &&
			(limits.Tokens == 0 || used == 0 || used+tokens <= limits.Tokens)
	}
	at := now
	for i := 0; !fits() && i < len(w.entries); i++ {
		requests -= w.entries[i].requests
		used -= w.entries[i].tokens
		at = w.entries[i].last.Add(minute)
	}
	return at
}
