package v2

import (
	"context"
	"log/slog"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/dataset"
)

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
	seen  map[string]progressMark // documents under way or changed lately, as sent; nil before the first look
	since int64                   // the newest change of a document that was seen
	idle  bool                    // that nothing is under way has been sent
}

// progressMark distinguishes events of a document.
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
	p := &progressReader{progressStream: a}
	return poll(r, slog.String("dataset", a.in.ID), p.look)
}

// look reads the documents under way and those that changed since the last look, which may have
// come and ended in between, and sends what is new.
func (p *progressReader) look(ctx context.Context, s *polledStream) error {
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
			s.event("document", documentViewOf(v))
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
	s.event("idle", datasetViewOf(v))
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
	if p.seen == nil { // first look
		return nil, nil
	}
	for i, v := range rows {
		if v.Updated < since {
			return rows[:i], nil
		}
	}
	return rows, nil
}
