package quota

import (
	"fmt"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Settle writes soon what is counted, without waiting for it: a run has ended.
func (m *Meter) Settle() {
	m.mu.Lock()
	open := m.open
	m.mu.Unlock()
	if !open {
		return
	}
	select {
	case m.kick <- struct{}{}:
	default: // somebody else has asked
	}
}

// Flush writes what is counted. What could not be written is kept for the next time. It does not
// end with whoever asks for it: a write that is given up may have happened all the same, and would
// be counted twice.
func (m *Meter) Flush() error {
	m.writing.Lock()
	defer m.writing.Unlock()
	uses, tallies := m.collect()
	if len(uses) == 0 {
		return nil
	}
	totals, err := m.cfg.Store.AddTokens(m.life, uses)
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, t := range tallies {
		t.sent = 0
		if err != nil {
			t.waiting = min(t.waiting+uses[i].Tokens, store.MostTokens)
			m.open = true
			continue
		}
		t.stored = totals[i]
		t.told++
	}
	return err
}

// collect takes what waits to be written.
func (m *Meter) collect() (uses []store.TokenUse, tallies []*tally) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.open {
		return nil, nil
	}
	m.open = false
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

// work writes until the meter is closed.
func (m *Meter) work() {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	broken, forgot := false, int64(0)
	for {
		select {
		case <-m.quit:
			m.last <- m.Flush()
			return
		case <-m.kick:
		case <-tick.C:
			forgot = m.tidy(forgot)
		}
		err := m.Flush()
		if err != nil && !broken {
			m.cfg.Log.Warn("used tokens are not written yet", "err", err)
		}
		broken = err != nil
	}
}

// tidy drops what nobody has asked for of late, and from the store once a day
// what is older than yesterday, which a host whose clock is late may still count.
func (m *Meter) tidy(forgot int64) int64 {
	now, day, _ := m.today()
	m.mu.Lock()
	for s, t := range m.list {
		if t.waiting == 0 && t.sent == 0 && now.Sub(t.looked) > keepFor {
			delete(m.list, s)
		}
	}
	m.mu.Unlock()
	if forgot == day {
		return day
	}
	if err := m.cfg.Store.ForgetTokens(m.life, day-1); err != nil {
		m.cfg.Log.Warn("old counts of tokens were not removed", "err", err)
		return forgot
	}
	return day
}

// Close writes what is counted and ends the meter. The store must still be open.
func (m *Meter) Close() error { return m.close() }

func (m *Meter) stop() error {
	defer m.end()
	late := time.AfterFunc(closeTime, m.end)
	defer late.Stop()
	close(m.quit)
	if err := <-m.last; err != nil {
		return fmt.Errorf("used tokens were not written: %w", err)
	}
	return nil
}
