package schedule

import (
	"fmt"
	"strings"
	"time"
)

// When is the times at which a schedule starts runs: after each Every, or at the times of Cron in
// Zone.
type When struct {
	Every string `json:"every,omitempty"` // such as 10m or 24h, whole seconds
	Cron  string `json:"cron,omitempty"`  // as in [cron]
	Zone  string `json:"zone,omitempty"`  // IANA name for Cron; "" means UTC
}

// WhenError reports invalid times of a schedule to their author.
type WhenError struct{ Problem string }

func (e *WhenError) Error() string { return e.Problem }

func badWhen(format string, args ...any) error { return &WhenError{fmt.Sprintf(format, args...)} }

// Bounds of periods.
const (
	shortestPeriod = time.Minute
	longestPeriod  = 366 * 24 * time.Hour
)

// check rejects times that cannot be parsed, never come, or come more often than once in shortest.
func (w *When) check(now time.Time, shortest time.Duration) error {
	if (w.Every == "") == (w.Cron == "") {
		return badWhen("expected either every or cron, not both")
	}
	if w.Every != "" {
		period, err := w.period()
		if err == nil && period < shortest {
			err = badWhen("every %s is too often: once in %s at most", w.Every, shortest)
		}
		return err
	}
	c, err := w.cron()
	if err != nil {
		return err
	}
	first, ok := c.next(now)
	if !ok {
		return badWhen("cron %q names no time of the next five years", w.Cron)
	}
	// The smallest gap between two times shows within the first days that have any.
	last := first
	for n := 0; n < 1500 && last.Sub(first) < 8*24*time.Hour; n++ {
		t, ok := c.next(last)
		if !ok {
			break
		}
		if t.Sub(last) < shortest {
			return badWhen("cron %q is too often: once in %s at most", w.Cron, shortest)
		}
		last = t
	}
	return nil
}

func (w *When) period() (time.Duration, error) {
	if w.Zone != "" {
		return 0, badWhen("zone %q: only cron has one", w.Zone)
	}
	d, err := time.ParseDuration(w.Every)
	switch {
	case err != nil:
		return 0, badWhen("every %.40q is not a period such as 90s, 10m or 24h", w.Every)
	case d <= 0 || d > longestPeriod:
		return 0, badWhen("every %s: a period is at most %d days", w.Every, longestPeriod/(24*time.Hour))
	case d%time.Second != 0:
		return 0, badWhen("every %s: expected whole seconds", w.Every)
	}
	return d, nil
}

func (w *When) cron() (cron, error) {
	zone := time.UTC
	if w.Zone != "" {
		var err error
		// "Local" would be another zone on each host.
		if zone, err = time.LoadLocation(w.Zone); err != nil || strings.EqualFold(w.Zone, "local") {
			return cron{}, badWhen("unknown time zone %.40q; use a name such as Europe/Berlin", w.Zone)
		}
	}
	c, err := parseCron(w.Cron, zone)
	if err != nil {
		return cron{}, badWhen("cron %.120q: %s", w.Cron, err)
	}
	return c, nil
}

// Next returns the next n times after now. A period counts from the last time of the schedule, or
// from when the clock was set.
func (s *Schedule) Next(n int, now, last time.Time) ([]time.Time, error) {
	if !s.timed() {
		return nil, nil
	}
	var out []time.Time
	if s.Every != "" {
		period, err := s.period()
		if err != nil {
			return nil, err
		}
		if last.Before(s.Set) {
			last = s.Set
		}
		t := last.Round(time.Second).UTC()
		if behind := now.Sub(t); behind > 0 {
			t = t.Add(behind.Truncate(period))
		}
		for range n {
			t = t.Add(period)
			out = append(out, t)
		}
		return out, nil
	}
	c, err := s.cron()
	if err != nil {
		return nil, err
	}
	for t, ok := c.next(now); ok && len(out) < n; t, ok = c.next(t) {
		out = append(out, t)
	}
	return out, nil
}
