package traces

import (
	"context"
	"errors"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

const retainEvery = 10 * time.Minute

// retain deletes old and deleted traces until ctx ends. Hosts that share the records do so side by
// side.
func (t *Traces) retain(ctx context.Context) {
	tick := time.NewTicker(retainEvery)
	defer tick.Stop()
	for {
		if err := errors.Join(t.Retain(ctx), t.rewrite(ctx)); err != nil && ctx.Err() == nil {
			t.cfg.Logger.Warn("old traces stay", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Retain deletes the days that the settings of their tenants do not keep.
func (t *Traces) Retain(ctx context.Context) error {
	uses, err := t.cfg.Store.Traces.Uses(ctx, "")
	if err != nil {
		return err
	}
	byTenant := map[string][]store.TraceUse{}
	for _, u := range uses {
		byTenant[u.Tenant] = append(byTenant[u.Tenant], u)
	}
	for tenant, list := range byTenant {
		set, failed := t.Settings(ctx, tenant)
		if failed == nil {
			failed = t.retainTenant(ctx, tenant, set, list)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// retainTenant deletes days of a tenant: those that are too old, and the oldest ones while all are
// too large. The current day stays unless nothing is kept.
func (t *Traces) retainTenant(ctx context.Context, tenant string, set Settings, uses []store.TraceUse) error {
	now := t.cfg.Now()
	first, today := dayOf(now.AddDate(0, 0, -set.Days)), dayOf(now)
	sizes, all := map[string]int64{}, int64(0)
	var days []string // oldest first
	for _, u := range uses {
		if sizes[u.Day] == 0 {
			days = append(days, u.Day)
		}
		sizes[u.Day] += u.Size
		all += u.Size
	}
	kept, why := len(days), Expired
	for _, day := range days {
		tooOld, tooLarge := set.Days == 0 || day < first, all > set.Bytes && day < today
		if !tooOld && !tooLarge {
			break
		}
		if !tooOld {
			why = TooLarge
		}
		// The bytes first: those of an entry that is gone would stay for ever.
		if err := t.cfg.Bytes.DeleteDay(ctx, tenant, day); err != nil {
			return err
		}
		if err := t.cfg.Store.Traces.DeleteDay(ctx, tenant, day); err != nil {
			return err
		}
		all -= sizes[day]
		kept--
	}
	if kept == len(days) {
		return nil
	}
	if set.Days > 0 {
		deleted := days[len(days)-kept-1]
		err := noteLosses(ctx, t, tenant, func(l *losses) {
			if after := dayAfter(deleted); after > l.Before {
				l.Before, l.Why = after, why
			}
		})
		if err != nil {
			return err
		}
	}
	oldest := now
	if kept > 0 {
		var err error
		if oldest, err = time.Parse(time.DateOnly, days[len(days)-kept]); err != nil {
			return err
		}
	}
	return t.cfg.Store.Traces.DeleteDocuments(ctx, tenant, oldest.UnixMilli())
}

// dayAfter returns the day after one.
func dayAfter(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return dayOf(at.AddDate(0, 0, 1))
}

// DeleteTenant deletes the blocks of a deleted tenant, whose index and key the records had.
func (t *Traces) DeleteTenant(ctx context.Context, tenant string) error {
	t.seal.forget(tenant)
	return t.cfg.Bytes.DeleteDay(ctx, tenant, "")
}

// Uses returns the sizes of the traces of a tenant by day and canvas, oldest day first.
func (t *Traces) Uses(ctx context.Context, tenant string) ([]store.TraceUse, error) {
	return t.cfg.Store.Traces.Uses(ctx, tenant)
}
