// Package retry computes the delay before a request is sent again.
package retry

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Longest is the maximum delay. A request for which a server requires more is not retried.
const Longest = time.Minute

// Backoff returns 1, 2, 4, ... seconds, up to [Longest], reduced by up to half at random so that
// concurrent callers do not retry in step. try counts from 0.
func Backoff(try int) time.Duration {
	d := min(time.Second<<min(try, 10), Longest)
	return d - rand.N(d/2)
}

// After parses the Retry-After header of a response, in seconds or as a date; without one the wait
// is [Backoff]. again is false if the server requires more than [Longest].
func After(h http.Header, try int) (wait time.Duration, again bool) {
	header := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(header, 64); err == nil && s >= 0 {
		wait = time.Duration(min(s, 1e6) * float64(time.Second))
	} else if at, err := http.ParseTime(header); err == nil {
		wait = max(0, time.Until(at))
	} else {
		return Backoff(try), true
	}
	return wait, wait <= Longest
}
