package quota

import (
	"errors"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Settle schedules a write at the end of a run. It does not wait.
func (m *Meter) Settle() {
	m.mu.Lock()
	unwritten := m.dirty || len(m.uses) > 0
	m.mu.Unlock()
	if !unwritten {
		return
	}
	select {
	case m.flushNow <- struct{}{}:
	default: // a write is already scheduled
	}
}

// Flush writes the counts. After an error they are kept for the next write. It ignores the contexts
// of callers: a canceled write may have succeeded and would be counted twice.
func (m *Meter) Flush() error {
	m.writing.Lock()
	defer m.writing.Unlock()
	return errors.Join(m.flushTokens(), m.flushUses())
}

func (m *Meter) flushTokens() error {
	uses, tallies := m.collect()
	if len(uses) == 0 {
		return nil
	}
	totals, err := m.cfg.Store.Add(m.ctx, uses)
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, t := range tallies {
		t.sent = 0
		if err != nil {
			t.waiting = min(t.waiting+uses[i].Tokens, store.MostTokens)
			m.dirty = true
			continue
		}
		t.stored = totals[i]
		t.writes++
	}
	return err
}

// collect moves the unwritten counts to sent.
func (m *Meter) collect() (uses []store.TokenUse, tallies []*tally) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.dirty {
		return nil, nil
	}
	m.dirty = false
	for s, t := range m.list {
		if t.waiting == 0 {
			continue
		}
		uses = append(uses, store.TokenUse{Tenant: s.tenant, Caller: s.caller, Day: s.day, Tokens: t.waiting})
		tallies = append(tallies, t)
		t.sent, t.waiting = t.waiting, 0
	}
	return uses, tallies
}

// work writes periodically until the meter is closed.
func (m *Meter) work() {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	failed, cleaned := false, int64(0)
	for {
		select {
		case <-m.quit:
			m.last <- m.Flush()
			return
		case <-m.flushNow:
		case <-tick.C:
			cleaned = m.tidy(cleaned)
		}
		err := m.Flush()
		if err != nil && !failed {
			m.cfg.Log.Warn("used tokens are not written yet", "err", err)
		}
		failed = err != nil
	}
}

// tidy drops tallies not used for keepFor. Once a day it deletes counts from before yesterday;
// yesterday is kept for hosts with a slow clock.
func (m *Meter) tidy(cleaned int64) int64 {
	now, day, _ := m.today()
	m.mu.Lock()
	for s, t := range m.list {
		if t.waiting == 0 && t.sent == 0 && now.Sub(t.readAt) > keepFor {
			delete(m.list, s)
		}
	}
	m.mu.Unlock()
	if cleaned == day {
		return day
	}
	if err := m.cfg.Store.Forget(m.ctx, day-1); err != nil {
		m.cfg.Log.Warn("old counts of tokens were not removed", "err", err)
		return cleaned
	}
	if m.cfg.Uses == nil {
		return day
	}
	if err := m.cfg.Uses.Forget(m.ctx, day-useDays); err != nil {
		m.cfg.Log.Warn("old usage of models was not removed", "err", err)
		return cleaned
	}
	return day
}

// Close writes the counts and stops the meter. The store must still be open.
func (m *Meter) Close() error { return m.close() }

func (m *Meter) stop() error {
	defer m.cancel()
	timeout := time.AfterFunc(closeTime, m.cancel)
	defer timeout.Stop()
	close(m.quit)
	if err := <-m.last; err != nil {
		return fmt.Errorf("used tokens were not written: %w", err)
	}
	return nil
}
