package follow

import (
	"slices"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Bounds of the events of a dataset and of one read.
const (
	mostEvents = 2048    // that are kept for followers: more than all positions in the queue
	mostBytes  = 8 << 20 // of them
	pageSize   = 100     // documents of a read of the watch
	mostPages  = 50      // of a look; the next look continues
)

// Positions in the queue change with each document that is taken up. Those of documents that are
// near the front are sent each time, the others every farEvery.
const (
	near     = 100
	farEvery = 10 * time.Second
)

// feed has the recent events of a dataset.
type feed struct {
	watch *Watch
	id    string

	followers int // guarded by watch.mu

	// Of the loop alone.
	loaded bool
	sent   map[string]position // in the queue, by document
	resent time.Time           // when all positions were sent last

	mu        sync.Mutex
	changed   chan struct{} // closed at the next change
	head      dataset.Head
	gone      bool
	at        place  // of the last change that was read
	active    bool   // documents are under way
	idle      *Event // that none is
	queue     queue
	events    []*Event
	first     int         // number of events[0]; events are numbered from 0
	announced int         // events that followers know of
	base      place       // the events have all changes behind it
	bytes     int         // of events
	resendAt  int         // number of the look from which a follower needs all positions; 0 is none
	looks     int         // that have ended
	joined    []*Follower // since the look in progress began
	joining   []*Follower // with the look in progress
	pages     map[pageKey]page

	reading sync.Mutex // held while a page is read
}

// queue is the positions of documents at the front of the queue. A document that is not among them
// has most others ahead.
type queue struct {
	ahead map[string]int
	most  int
}

// locate fills in the position of a queued document.
func (q *queue) locate(v *dataset.Document) {
	if v.State != dataset.Queued || q.ahead == nil {
		return
	}
	n, among := q.ahead[v.ID]
	if !among {
		n = q.most
	}
	v.Queue = n
}

// position has the last event of a document in the queue.
type position struct {
	ahead int
	at    time.Time
}

func newFeed(w *Watch, id string) *feed {
	return &feed{
		watch: w, id: id, changed: make(chan struct{}), sent: map[string]position{}, pages: map[pageKey]page{},
	}
}

// join adds a follower, which begins with the next look.
func (d *feed) join(f *Follower) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.joined = append(d.joined, f)
}

// admit makes those who have joined begin with the look that follows.
func (d *feed) admit() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.joining, d.joined = append(d.joining, d.joined...), nil
}

// end ends all followers: the dataset was deleted.
func (d *feed) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.joining {
		f.begin()
	}
	if d.joining = nil; !d.gone {
		d.gone = true
		d.ring()
	}
}

// ring wakes the followers. The caller holds mu.
func (d *feed) ring() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// advance reads the changes up to a head and passes them on.
func (d *feed) advance(l *look, head dataset.Head) error {
	if err := d.load(l, head); err != nil {
		return err
	}
	before := d.active
	changed, err := d.readChanges(l, head)
	if err != nil {
		return err
	}
	var q queue
	if d.active {
		if q, err = l.positions(d.id); err == nil {
			err = d.readPositions(l, q, changed)
		}
		if err != nil {
			return err
		}
	}
	ended := !d.active && (before || len(changed) > 0)
	idle := d.idle
	if ended || !d.active && (idle == nil || d.newcomers()) {
		v, err := l.w.source.Dataset(l.ctx, d.id)
		if err != nil {
			return err
		}
		idle = &Event{Dataset: &v}
	}
	d.publish(head, q, idle, ended)
	return nil
}

// load begins with the state at a head.
func (d *feed) load(l *look, head dataset.Head) error {
	if d.loaded {
		return nil
	}
	active, err := d.anyUnderWay(l)
	if err != nil {
		return err
	}
	if active {
		q, err := l.positions(d.id)
		if err != nil {
			return err
		}
		for id, n := range q.ahead {
			d.sent[id] = position{n, l.now}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loaded, d.active = true, active
	d.at = behind(head.Changes)
	d.base = d.at
	return nil
}

func (d *feed) anyUnderWay(l *look) (bool, error) {
	list, err := l.w.source.UnderWay(l.ctx, d.id, 0, "", 1)
	return len(list) > 0, err
}

// readChanges reads all changed documents, and returns their ids.
func (d *feed) readChanges(l *look, head dataset.Head) (changed map[string]bool, err error) {
	changed = map[string]bool{}
	for page := 0; head.Changes >= d.at.seq; page++ {
		if page == mostPages {
			l.w.loop.Again()
			return changed, nil
		}
		list, err := l.w.source.After(l.ctx, d.id, d.at.seq, d.at.document, pageSize)
		if err != nil {
			return changed, err
		}
		if err := d.addChanges(l, list, changed); err != nil {
			return changed, err
		}
		if len(list) == pageSize {
			continue
		}
		active, err := d.stillActive(l, list)
		if err != nil {
			return changed, err
		}
		if d.pass(head.Changes, active); active {
			return changed, nil
		}
		// Documents that have ended since are announced before the end of all.
		heads, err := l.w.source.Heads(l.ctx, []string{d.id})
		if err != nil {
			return changed, err
		}
		head.Changes = heads[d.id].Changes
	}
	return changed, nil
}

// stillActive reports whether documents are under way, after the last page of changes.
func (d *feed) stillActive(l *look, last []dataset.Change) (bool, error) {
	if slices.ContainsFunc(last, func(c dataset.Change) bool { return isUnderWay(c.State) }) {
		return true, nil
	}
	if !d.active {
		return false, nil // nothing else has changed
	}
	return d.anyUnderWay(l)
}

func isUnderWay(s dataset.State) bool { return s == dataset.Queued || s == dataset.Running }

// pass notes that all changes up to a number were read: those with it are of documents that have
// changed again or are deleted.
func (d *feed) pass(seq int64, active bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active = active
	if all := behind(seq); d.at.before(all) {
		d.at = all
	}
}

// addChanges adds events of changed documents.
func (d *feed) addChanges(l *look, list []dataset.Change, changed map[string]bool) error {
	if len(list) == 0 {
		return nil
	}
	q, err := l.positions(d.id)
	if err != nil {
		return err
	}
	events := make([]*Event, len(list))
	active := false
	for i := range list {
		c := &list[i]
		q.locate(&c.Document)
		if delete(d.sent, c.ID); c.State == dataset.Queued {
			d.sent[c.ID] = position{c.Queue, l.now}
		}
		active = active || isUnderWay(c.State)
		changed[c.ID] = true
		events[i] = &Event{Document: &c.Document, at: placeOf(c)}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active = d.active || active
	d.add(events)
	d.at = events[len(events)-1].at
	return nil
}

// readPositions adds events of queued documents with another position.
func (d *feed) readPositions(l *look, q queue, changed map[string]bool) error {
	all := d.resend(l.now)
	sent, due := make(map[string]position, len(q.ahead)), []string(nil)
	for id, n := range q.ahead {
		was, known := d.sent[id]
		same := known && was.ahead == n && !all
		if soon := !known || all || n < near || l.now.Sub(was.at) >= farEvery; !same && soon && !changed[id] {
			was = position{n, l.now}
			due = append(due, id)
		}
		sent[id] = was
	}
	d.sent = sent
	slices.SortFunc(due, func(a, b string) int { return q.ahead[a] - q.ahead[b] })
	for ids := range slices.Chunk(due, pageSize) {
		list, err := l.w.queue.These(l.ctx, d.id, ids)
		if err != nil {
			return err
		}
		d.addMoved(list, q)
	}
	return nil
}

// resend reports whether all positions are sent again, for followers that have missed some.
func (d *feed) resend(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.resendAt == 0 || d.looks+1 < d.resendAt || now.Sub(d.resent) < farEvery {
		return false
	}
	d.resendAt, d.resent = 0, now
	return true
}

// addMoved adds events of documents whose position has changed.
func (d *feed) addMoved(list []dataset.Change, q queue) {
	var events []*Event
	for i := range list {
		c := &list[i]
		if c.State != dataset.Queued {
			continue // the next look reads that change
		}
		q.locate(&c.Document)
		events = append(events, &Event{Document: &c.Document, at: placeOf(c), moved: true})
	}
	slices.SortFunc(events, func(a, b *Event) int { return a.Document.Queue - b.Document.Queue })
	d.mu.Lock()
	defer d.mu.Unlock()
	d.add(events)
}

// add adds events and drops the oldest beyond the bounds. The caller holds mu.
func (d *feed) add(events []*Event) {
	for _, e := range events {
		e.look = d.looks + 1
		d.bytes += e.size()
	}
	d.events = append(d.events, events...)
	drop := 0
	for len(d.events)-drop > d.watch.most || d.bytes > mostBytes {
		e := d.events[drop]
		if d.bytes -= e.size(); !e.moved {
			d.base = e.at
		}
		drop++
	}
	if drop > 0 {
		d.events = slices.Clone(d.events[drop:])
		d.first += drop
	}
}

// newcomers reports whether followers wait for the look in progress.
func (d *feed) newcomers() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.joining) > 0
}

// publish ends a look: newcomers begin, and followers are woken if there is something for them,
// such as the end of the last document under way.
func (d *feed) publish(head dataset.Head, q queue, idle *Event, ended bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.head
	known.Changes = head.Changes
	news := ended || d.first+len(d.events) != d.announced || known != head
	d.head, d.queue, d.idle, d.announced = head, q, idle, d.first+len(d.events)
	d.looks++
	clear(d.pages)
	for _, f := range d.joining {
		f.begin()
	}
	if d.joining = nil; news {
		d.ring()
	}
}
