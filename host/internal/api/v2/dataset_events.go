package v2

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/dataset"
)

// progressEvery is how often the states of documents are read for a stream of progress.
const progressEvery = time.Second

func (d datasets) events(ctx context.Context, in datasetByID) (progressStream, error) {
	_, err := d.Get(ctx, in.Who, in.ID)
	return progressStream{d, in}, err
}

// progressStream answers with the progress of the documents of a dataset. It lasts until the client
// leaves.
type progressStream struct {
	d  datasets
	in datasetByID
}

// progressReader sends what has changed since it looked last.
type progressReader struct {
	progressStream
	s     *api.Stream
	seen  map[string]progressMark // documents under way or changed lately, as they were sent
	since int64                   // the newest change of a document that was seen
	idle  bool                    // that nothing is under way has been sent
	n     int                     // events that were sent
}

// progressMark is what tells one event of a document from the next.
type progressMark struct {
	state    dataset.State
	progress float64
	ahead    int
	updated  int64
}

func markOf(v dataset.Document) progressMark {
	return progressMark{v.State, v.Progress, v.Queue, v.Updated}
}

// Write sends the documents under way, then each change of one.
func (a progressStream) Write(r *api.Request) error {
	ctx := r.HTTP.Context()
	p := &progressReader{progressStream: a, s: r.OpenStream(true), seen: map[string]progressMark{}}
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	sent := time.Now()
	for {
		before := p.n
		if err := p.look(ctx); err != nil {
			if ctx.Err() == nil {
				r.Logger().Warn("stream of progress broke off", "dataset", a.in.ID, "err", err)
			}
			return nil
		}
		if p.n > before {
			sent = time.Now()
		} else if time.Since(sent) >= heartbeat {
			p.s.Comment("still here")
			sent = time.Now()
		}
		if p.s.Err() != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// look reads the documents under way and those that changed since the last look, which may have
// come and ended in between, and sends what is new.
func (p *progressReader) look(ctx context.Context) error {
	changed, err := p.changed(ctx)
	if err != nil {
		return err
	}
	active, _, err := p.d.Documents(ctx, p.in.Who, p.in.ID, app.DocumentList{
		States: []dataset.State{dataset.Queued, dataset.Running}, Page: 1, Size: largestPage,
	})
	if err != nil {
		return err
	}
	now := make(map[string]progressMark, len(active)+len(changed))
	for _, v := range append(changed, active...) {
		mark := markOf(v)
		if _, looked := now[v.ID]; looked {
			continue
		}
		if now[v.ID] = mark; p.seen[v.ID] != mark {
			p.idle = false
			p.send("document", documentViewOf(v))
		}
	}
	p.seen = now
	if p.idle || len(active) > 0 {
		return nil
	}
	v, err := p.d.Get(ctx, p.in.Who, p.in.ID)
	if err != nil {
		return err
	}
	p.idle = true
	p.send("idle", datasetViewOf(v))
	return nil
}

// changed are the documents that changed since the newest change that was seen; none at first.
func (p *progressReader) changed(ctx context.Context) ([]dataset.Document, error) {
	rows, _, err := p.d.Documents(ctx, p.in.Who, p.in.ID, app.DocumentList{
		OrderBy: "update_time", Page: 1, Size: largestPage,
	})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	since := p.since
	p.since = rows[0].Updated
	if p.n == 0 {
		return nil, nil
	}
	for i, v := range rows {
		if v.Updated < since {
			return rows[:i], nil
		}
	}
	return rows, nil
}

func (p *progressReader) send(name string, view any) {
	data, err := json.Marshal(view)
	if err != nil {
		return // a view of ours is JSON
	}
	p.n++
	p.s.Named(strconv.Itoa(p.n), name, data)
}
