package follow

import (
	"context"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// fewDocuments is the size of the pages that followers read themselves, which each one holds.
// mostUnderWay bounds the documents under way that a follower begins with.
const (
	fewDocuments = 20
	mostUnderWay = 1000
)

// Follower is one reader of the events of a dataset. It must be used by one goroutine.
type Follower struct {
	feed *feed
	sees func(dataset.Head) bool

	start chan struct{} // closed when it begins
	begun bool          // guarded by feed.mu, as next and seen are before that
	next  int           // number of the next event
	seen  place         // all changes up to it were returned

	phase phase
	page  []*Event // that was read and not returned
	rest  bool     // told that no document is under way

	// Of the phase underWay.
	created  int64 // of the last document of the page
	document string
	count    int
	// early are documents that were returned with a change that the feed had not read. Events of
	// looks before from may be older than what was returned.
	early map[string]place
	from  int
}

// phase is where the next events come from.
type phase int

const (
	live     phase = iota // the feed
	underWay              // documents under way, for a new follower
	missed                // changes behind seen
)

// begin starts the follower at the state of the feed. The caller holds feed.mu.
func (f *Follower) begin() {
	d := f.feed
	f.begun, f.seen, f.next = true, d.at, d.first+len(d.events)
	if d.active {
		f.phase = underWay
	}
	close(f.start)
}

// Close ends the follower.
func (f *Follower) Close() { f.feed.watch.leave(f.feed) }

// Changed returns a channel that is closed when there may be another event. It must be called
// before the calls of Next that find none.
func (f *Follower) Changed() <-chan struct{} {
	f.feed.mu.Lock()
	defer f.feed.mu.Unlock()
	if !f.begun && !f.feed.gone {
		return f.start
	}
	return f.feed.changed
}

// Next returns the next event; nil means that no event is due. Errors: [ErrGone], those of the
// source.
func (f *Follower) Next(ctx context.Context) (*Event, error) {
	for {
		if len(f.page) > 0 {
			e := f.page[0]
			f.page = f.page[1:]
			return e, nil
		}
		e, read, err := f.take()
		if e != nil || err != nil || !read {
			return e, err
		}
		if err := f.read(ctx); err != nil {
			return nil, err
		}
	}
}

// take returns the next event of the feed. read means that a page comes first.
func (f *Follower) take() (e *Event, read bool, err error) {
	d := f.feed
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.gone, f.begun && !f.sees(d.head):
		return nil, false, ErrGone
	case !f.begun:
		return nil, false, nil
	case f.phase == live && f.next < d.first:
		f.phase = missed
	}
	if f.phase != live {
		return nil, true, nil
	}
	for f.next < d.first+len(d.events) {
		e := d.events[f.next-d.first]
		f.next++
		if f.skips(e) {
			continue
		}
		if !e.moved {
			f.seen = e.at
		}
		f.rest = false
		return e, false, nil
	}
	if d.active || f.rest || d.idle == nil {
		return nil, false, nil
	}
	f.rest = true
	return d.idle, false, nil
}

// skips reports whether an event of the feed was returned before.
func (f *Follower) skips(e *Event) bool {
	if e.look >= f.from {
		f.early = nil
	} else if e.moved {
		return true
	}
	if at, returned := f.early[e.Document.ID]; returned && !at.before(e.at) {
		return true
	}
	return !e.moved && !f.seen.before(e.at)
}

// read reads the next page, and returns to the feed after the last one.
func (f *Follower) read(ctx context.Context) error {
	d := f.feed
	if f.phase == underWay {
		p, err := d.page(ctx, pageKey{underWay: true, number: f.created, document: f.document})
		if err != nil {
			return err
		}
		f.page, f.count = p.events, f.count+len(p.events)
		for _, e := range p.events {
			if f.seen.before(e.at) {
				f.noteEarly(e)
			}
			f.created, f.document = e.Document.Created, e.Document.ID
		}
		if len(p.events) < fewDocuments || f.count >= mostUnderWay {
			f.phase = missed
		}
		return nil
	}
	p, err := d.page(ctx, pageKey{number: f.seen.seq, document: f.seen.document})
	if err != nil {
		return err
	}
	for _, e := range p.events {
		f.seen = e.at
		if at, returned := f.early[e.Document.ID]; !returned || at.before(e.at) {
			f.page = append(f.page, e)
		}
	}
	f.rest = f.rest && len(f.page) == 0
	if len(p.events) < fewDocuments {
		if f.seen.before(p.at) {
			f.seen = p.at // what lies between has changed again, or was deleted
		}
		d.rejoin(f)
	}
	return nil
}

// noteEarly notes that a document was returned with a change that the feed has not read.
func (f *Follower) noteEarly(e *Event) {
	if f.early == nil {
		f.early = map[string]place{}
	}
	if len(f.early) < fewDocuments*fewDocuments {
		f.early[e.Document.ID] = e.at // without it, the same is returned again
	}
}

// rejoin makes a follower that has caught up continue with the feed, unless it is behind again.
func (d *feed) rejoin(f *Follower) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f.seen.before(d.base) {
		return
	}
	f.phase, f.next = live, d.first+len(d.events)
	for i, e := range d.events {
		if !e.moved && f.seen.before(e.at) {
			f.next = d.first + i
			break
		}
	}
	f.from = d.looks + 2 // the look in progress may have read documents before this page
	d.resendAt = f.from
}

// pageKey is a page that followers read: of documents under way, behind the creation time and id
// of one; or of changes, behind that of a document.
type pageKey struct {
	underWay bool
	number   int64
	document string
}

type page struct {
	events []*Event
	at     place // of the feed, before the page was read
}

// mostPagesKept bounds the pages that followers of a dataset share.
const mostPagesKept = 64

// page reads a page. Followers that need the same one until the next look share it.
func (d *feed) page(ctx context.Context, key pageKey) (page, error) {
	d.reading.Lock()
	defer d.reading.Unlock()
	d.mu.Lock()
	p, known := d.pages[key]
	looks, q := d.looks, d.queue
	if !known {
		p.at = d.at
	}
	d.mu.Unlock()
	if known {
		return p, nil
	}
	select {
	case d.watch.reads <- struct{}{}:
		defer func() { <-d.watch.reads }()
	case <-ctx.Done():
		return page{}, ctx.Err()
	}
	source, read := d.watch.source, []dataset.Change(nil)
	var err error
	if key.underWay {
		read, err = source.UnderWay(ctx, d.id, key.number, key.document, fewDocuments)
	} else {
		read, err = source.After(ctx, d.id, key.number, key.document, fewDocuments)
	}
	if err != nil {
		return page{}, err
	}
	for i := range read {
		c := &read[i]
		q.locate(&c.Document)
		p.events = append(p.events, &Event{Document: &c.Document, at: placeOf(c)})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.looks == looks && len(d.pages) < mostPagesKept {
		d.pages[key] = p
	}
	return p, nil
}
