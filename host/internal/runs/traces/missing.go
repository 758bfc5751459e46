package traces

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Why is the reason why an ended run is not kept, or one of [Kept] and [Pending].
type Why string

// The values of [Why].
const (
	Kept     Why = "kept"
	Pending  Why = "pending"   // its host writes it soon
	Deleted  Why = "deleted"   // with its session, or by the history
	Expired  Why = "expired"   // older than the days of the settings
	TooLarge Why = "too_large" // the bytes of the settings were used up by later runs
	DiskFull Why = "disk_full" // when it ended
	Switched Why = "off"       // the settings keep none
	Unknown  Why = "missing"   // it ended before runs were kept, or the host was restored from a backup
)

// losses has why traces of a tenant are missing, as far as that has to be recorded.
type losses struct {
	// Before is the first day that is left after a deletion; Why is the reason of that.
	Before string `json:"before,omitempty"`
	Why    Why    `json:"why,omitempty"`
	// Stops are the times in which runs have ended that were not kept because the disk was almost
	// full, oldest first.
	Stops []stop `json:"stops,omitempty"`
}

// stop is a range of Unix milliseconds, with both ends.
type stop struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

const lossesKind, lossesID = "trace_losses", "losses"

// Bounds of the recorded stops: those closer together become one.
const (
	stopsMost  = 50
	stopsClose = 10 * time.Minute
	stopsEvery = 5 * time.Second // how often they are written while they last
)

func lossesOf(ctx context.Context, t *Traces, tenant string) (out losses, item store.Item, err error) {
	item, err = t.cfg.Store.Items.Get(ctx, tenant, lossesKind, lossesID)
	if errors.Is(err, store.ErrNotFound) {
		return out, store.Item{Tenant: tenant, Kind: lossesKind, ID: lossesID, Name: lossesID}, nil
	}
	if err == nil {
		err = json.Unmarshal(item.Doc, &out)
	}
	return out, item, err
}

// noteLosses changes the recorded losses of a tenant; hosts that do so at once try again.
func noteLosses(ctx context.Context, t *Traces, tenant string, change func(l *losses)) error {
	for {
		l, item, err := lossesOf(ctx, t, tenant)
		if err != nil {
			return err
		}
		change(&l)
		if item.Doc, err = json.Marshal(l); err != nil {
			return err
		}
		_, err = t.cfg.Store.Items.Put(ctx, item)
		if !errors.Is(err, store.ErrExists) && !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// addStop adds a range to the stops.
func (l *losses) addStop(s stop) {
	if n := len(l.Stops); n > 0 && s.From-l.Stops[n-1].To <= stopsClose.Milliseconds() {
		last := &l.Stops[n-1]
		last.From, last.To = min(last.From, s.From), max(last.To, s.To)
		return
	}
	l.Stops = append(l.Stops, s)
	if len(l.Stops) > stopsMost {
		l.Stops = l.Stops[len(l.Stops)-stopsMost:]
	}
}

// noteStop notes that a run is not kept because the disk is almost full.
func noteStop(t *Traces, e runs.Ended) {
	at := stop{e.Time, t.cfg.Now().UnixMilli()}
	if e.Time == 0 {
		at.From = at.To
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s, known := t.stops[e.Tenant]
	if !known {
		s = at
	}
	t.stops[e.Tenant] = stop{min(s.From, at.From), max(s.To, at.To)}
}

// writeStops records the stops that were noted.
func writeStops(ctx context.Context, t *Traces) {
	t.mu.Lock()
	noted := t.stops
	t.stops = map[string]stop{}
	t.mu.Unlock()
	for tenant, s := range noted {
		err := noteLosses(ctx, t, tenant, func(l *losses) { l.addStop(s) })
		if err == nil {
			continue
		}
		t.cfg.Logger.Warn("it is not recorded that traces have stopped", "tenant", tenant, "err", err)
		t.mu.Lock()
		now, known := t.stops[tenant]
		if !known {
			now = s
		}
		t.stops[tenant] = stop{min(now.From, s.From), max(now.To, s.To)}
		t.mu.Unlock()
	}
}

// Stopped reports why runs of a tenant that end now are not kept: [Switched], [DiskFull], or
// [Kept].
func (t *Traces) Stopped(tenant string) Why {
	switch {
	case t.off(tenant):
		return Switched
	case t.cfg.Room != nil && !t.cfg.Room():
		return DiskFull
	}
	return Kept
}

// State returns whether a run of a tenant that has ended is kept, or why it is not.
func (t *Traces) State(ctx context.Context, run store.Run) (Why, error) {
	b, err := t.blockOf(ctx, run)
	if err != nil {
		return Unknown, err
	}
	gone, err := t.cfg.Store.Traces.Gone(ctx, run.Tenant, run.ID)
	switch {
	case err != nil:
		return Unknown, err
	case gone:
		return Deleted, nil
	case b.ID != "":
		return Kept, nil
	}
	why, err := Missing(ctx, t, run.Tenant, []store.Run{run})
	return why[run.ID], err
}

// Missing returns why ended runs of a tenant are in no block.
func Missing(ctx context.Context, t *Traces, tenant string, list []store.Run) (map[string]Why, error) {
	if len(list) == 0 {
		return nil, nil
	}
	l, _, err := lossesOf(ctx, t, tenant)
	if err != nil {
		return nil, err
	}
	set, err := t.Settings(ctx, tenant)
	if err != nil {
		return nil, err
	}
	out := map[string]Why{}
	for _, run := range list {
		out[run.ID] = missingWhy(t, run, l, set)
	}
	return out, nil
}

func missingWhy(t *Traces, run store.Run, l losses, set Settings) Why {
	now, ended := t.cfg.Now(), time.UnixMilli(run.EndTime)
	for _, s := range l.Stops {
		if s.From <= run.EndTime && run.EndTime <= s.To {
			return DiskFull
		}
	}
	t.mu.Lock()
	s, noted := t.stops[run.Tenant]
	waits := t.waiting[run.ID] != nil
	t.mu.Unlock()
	day := dayOf(ended)
	switch {
	case noted && s.From <= run.EndTime && run.EndTime <= s.To:
		return DiskFull
	case waits:
		return Pending
	case set.Days == 0:
		return Switched
	case day < l.Before:
		return l.Why
	case day < dayOf(now.AddDate(0, 0, -set.Days)):
		return Expired
	case now.Sub(ended) < settledAfter:
		return Pending
	}
	return Unknown
}
