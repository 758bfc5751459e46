package limit

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// queue holds the waiting calls of one run to one model, oldest first.
type queue struct {
	key    queueKey
	turns  []*Turn
	tenant *party
	run    *party
}

type queueKey struct{ tenant, run, model string }

// party is a tenant or a run with waiting calls.
type party struct {
	queued int
	// served orders parties: twice the clock at which one of its calls was started last, or one
	// less for a party that has just come, which is thus after those that wait and before the one
	// served last.
	served uint64
	runs   map[string]*party // of a tenant
}

// join returns the party of a name and creates it if missing.
func (l *Limiter) join(all map[string]*party, name string) *party {
	p := all[name]
	if p == nil {
		p = &party{runs: map[string]*party{}}
		if l.clock > 0 {
			p.served = 2*l.clock - 1
		}
		all[name] = p
	}
	p.queued++
	return p
}

// push adds a call to its queue and reports whether it is the first one there. The caller holds mu.
func (l *Limiter) push(t *Turn) (first bool) {
	key := queueKey{t.call.Tenant, t.call.Run, t.call.Model}
	tenant := l.join(l.tenants, key.tenant)
	run := l.join(tenant.runs, key.run)
	q := l.queues[key]
	if q == nil {
		q = &queue{key: key, tenant: tenant, run: run}
		l.queues[key] = q
	}
	l.arrived++
	t.number = l.arrived
	q.turns = append(q.turns, t)
	for _, s := range t.scopes {
		s.queued++
	}
	return len(q.turns) == 1
}

// remove takes a call out of its queue. The caller holds mu.
func (l *Limiter) remove(t *Turn) {
	key := queueKey{t.call.Tenant, t.call.Run, t.call.Model}
	q := l.queues[key]
	i := slices.Index(q.turns, t)
	q.turns = slices.Delete(q.turns, i, i+1)
	if len(q.turns) == 0 {
		delete(l.queues, key)
	}
	if q.run.queued--; q.run.queued == 0 {
		delete(q.tenant.runs, key.run)
	}
	if q.tenant.queued--; q.tenant.queued == 0 {
		delete(l.tenants, key.tenant)
	}
	for _, s := range t.scopes {
		s.queued--
	}
}

// before orders queues: the call of the first one is started first.
func before(a, b *queue) int {
	return cmp.Or(cmp.Compare(a.tenant.served, b.tenant.served), cmp.Compare(a.run.served, b.run.served),
		cmp.Compare(a.turns[0].number, b.turns[0].number))
}

// dispatch starts the calls that can start, and sets the timer for the next one that time alone
// keeps waiting. The caller holds mu.
func (l *Limiter) dispatch(now time.Time) {
	d := dispatch{Limiter: l, now: now, full: map[*scope]bool{}}
	for d.startNext() {
		// Each start changes the order of the queues.
	}
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if !d.wake.IsZero() {
		l.timer = time.AfterFunc(d.wake.Sub(now), func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.dispatch(time.Now())
		})
	}
}

// dispatch is one pass over the queues.
type dispatch struct {
	*Limiter
	now  time.Time
	full map[*scope]bool // scopes without room for the call that is served next there
	wake time.Time       // earliest time at which a call could start; zero without one
}

// startNext starts the first call that has room. Later calls do not overtake one that waits for the
// same room.
func (d *dispatch) startNext() bool {
	for _, q := range slices.SortedFunc(maps.Values(d.queues), before) {
		t := q.turns[0]
		if d.isFull(t) {
			continue
		}
		if s := d.refusing(t); s != nil {
			d.full[s] = true
			continue
		}
		d.start(q, t)
		return true
	}
	return false
}

func (d *dispatch) isFull(t *Turn) bool {
	return slices.ContainsFunc(t.scopes, func(s *scope) bool { return d.full[s] })
}

// refusing returns the first scope, from the run to the model, that has no room for a call.
func (d *dispatch) refusing(t *Turn) *scope {
	for _, s := range slices.Backward(t.scopes) {
		at, ok := s.free(d.now, t.call.Tokens)
		if ok && at.After(d.now) && (d.wake.IsZero() || at.Before(d.wake)) {
			d.wake = at
		}
		if !ok || at.After(d.now) {
			return s
		}
	}
	return nil
}

func (d *dispatch) start(q *queue, t *Turn) {
	d.clock++
	q.tenant.served, q.run.served = 2*d.clock, 2*d.clock
	d.remove(t)
	for _, s := range t.scopes {
		s.begin(d.now, t.call.Tokens)
	}
	t.began = d.now
	close(t.ready)
}

// failQueued fails the waiting calls of a scope. The caller holds mu.
func (l *Limiter) failQueued(s *scope, err error) {
	for _, q := range l.queues {
		for _, t := range slices.Clone(q.turns) {
			if slices.Contains(t.scopes, s) {
				l.remove(t)
				t.began, t.err = time.Now(), err
				close(t.ready)
			}
		}
	}
}
