package api

import (
	"log/slog"
	"sync"
	"time"
)

// outageInterval is the time between two lines about an outage in the log.
const outageInterval = time.Minute

// outages writes the first failure of an outage to the log, and counts those after it: a service
// that is away makes every request fail.
type outages struct {
	mu     sync.Mutex
	counts map[string]int // by the failed service; without an entry there is no outage
}

// note returns true for a failure to log. Others are counted, and the count is logged each
// outageInterval, until an interval has no failures.
func (o *outages) note(logger *slog.Logger, what string) (first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.counts[what]; known {
		o.counts[what]++
		return false
	}
	if o.counts == nil {
		o.counts = map[string]int{}
	}
	o.counts[what] = 0
	time.AfterFunc(outageInterval, func() { o.report(logger, what) })
	return true
}

func (o *outages) report(logger *slog.Logger, what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	count := o.counts[what]
	if count == 0 {
		delete(o.counts, what)
		return
	}
	o.counts[what] = 0
	logger.Error("requests failed", "reason", what, "count", count, "in", outageInterval)
	time.AfterFunc(outageInterval, func() { o.report(logger, what) })
}
