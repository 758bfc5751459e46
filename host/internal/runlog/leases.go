package runlog

import (
	"sync"
	"time"
)

// leases holds the leases of this host, by run and by task. The zero value is empty.
type leases struct {
	mu     sync.Mutex
	byRun  map[string]*Lease
	byTask map[string]map[*Lease]bool
	early  earlyCancels
}

// earlyCancels are canceled names without a lease: of runs that are stored and not yet claimed.
// Each is kept for at least a minute, unless earlyMost others follow. The zero value is empty.
type earlyCancels struct {
	names, older map[string]bool
	since        time.Time // of names
}

const (
	earlyKept = time.Minute
	earlyMost = 4096
)

func (c *earlyCancels) add(name string) {
	if len(c.names) == earlyMost || time.Since(c.since) >= earlyKept {
		c.older, c.names, c.since = c.names, map[string]bool{}, time.Now()
	}
	c.names[name] = true
}

func (c *earlyCancels) has(name string) bool { return c.names[name] || c.older[name] }

// add reports false when this host has a lease of the run already. A run that was canceled before
// is canceled with its lease.
func (s *leases) add(e *Lease) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byRun[e.Run.ID] != nil {
		return false
	}
	if s.byRun == nil {
		s.byRun, s.byTask = map[string]*Lease{}, map[string]map[*Lease]bool{}
	}
	s.byRun[e.Run.ID] = e
	for _, task := range e.Run.names() {
		if s.byTask[task] == nil {
			s.byTask[task] = map[*Lease]bool{}
		}
		s.byTask[task][e] = true
	}
	if s.early.has(e.Run.ID) {
		e.cancel(ErrCanceled)
	}
	return true
}

// canceled returns the leases that a canceled name ends. Without one it remembers the name.
func (s *leases) canceled(task string) []*Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*Lease
	for e := range s.byTask[task] {
		out = append(out, e)
	}
	if len(out) == 0 {
		s.early.add(task)
	}
	return out
}

func (s *leases) remove(e *Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byRun[e.Run.ID] != e {
		return
	}
	delete(s.byRun, e.Run.ID)
	for _, task := range e.Run.names() {
		delete(s.byTask[task], e)
		if len(s.byTask[task]) == 0 {
			delete(s.byTask, task)
		}
	}
}

// get returns the lease of a run, nil for none.
func (s *leases) get(run string) *Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byRun[run]
}

func (s *leases) all() []*Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*Lease, 0, len(s.byRun))
	for _, e := range s.byRun {
		out = append(out, e)
	}
	return out
}

func (s *leases) tasks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.byTask))
	for name := range s.byTask {
		names = append(names, name)
	}
	return names
}

// names returns all names by which the run can be canceled.
func (r Run) names() []string { return append([]string{r.ID}, r.Tasks...) }

// Active returns the ids of the runs that this host works on.
func (l *Log) Active() []string {
	var ids []string
	for _, e := range l.leases.all() {
		ids = append(ids, e.Run.ID)
	}
	return ids
}

// Tasks returns all names by which the runs of this host can be canceled.
func (l *Log) Tasks() []string { return l.leases.tasks() }
