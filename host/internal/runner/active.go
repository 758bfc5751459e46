package runner

// The leases of this host, by run and by task.

func (l *Log) add(e *Lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leases[e.Run.ID] != nil {
		return false
	}
	l.leases[e.Run.ID] = e
	for _, task := range e.Run.names() {
		if l.tasks[task] == nil {
			l.tasks[task] = map[*Lease]bool{}
		}
		l.tasks[task][e] = true
	}
	return true
}

func (l *Log) remove(e *Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leases[e.Run.ID] != e {
		return
	}
	delete(l.leases, e.Run.ID)
	for _, task := range e.Run.names() {
		delete(l.tasks[task], e)
		if len(l.tasks[task]) == 0 {
			delete(l.tasks, task)
		}
	}
}

// names are all names by which a run can be canceled.
func (r Run) names() []string { return append([]string{r.ID}, r.Tasks...) }

// Active are the ids of the runs that this host works on.
func (l *Log) Active() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := make([]string, 0, len(l.leases))
	for id := range l.leases {
		ids = append(ids, id)
	}
	return ids
}

// Tasks are all names by which the runs of this host can be canceled.
func (l *Log) Tasks() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := make([]string, 0, len(l.tasks))
	for name := range l.tasks {
		names = append(names, name)
	}
	return names
}
