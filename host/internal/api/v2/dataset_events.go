package v2

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

func (d datasets) events(ctx context.Context, in datasetByID) (progressStream, error) {
	_, err := d.Get(ctx, in.Who, in.ID)
	return progressStream{d, in}, err
}

// progressStream answers with the progress of the documents of a dataset. It lasts until the client
// leaves, or does not see the dataset any more.
type progressStream struct {
	d  datasets
	in datasetByID
}

// Write sends the documents under way, then each change of one.
func (a progressStream) Write(r *api.Request) error {
	if isHead(r) {
		return nil
	}
	ctx := r.HTTP.Context()
	api.Follow(r, func(ctx context.Context, who app.Principal) error {
		_, err := a.d.Get(ctx, who, a.in.ID)
		return err
	})
	f := a.d.Followers.Follow(a.in.Who, a.in.ID)
	defer f.Close()
	follow(r, slog.String("dataset", a.in.ID), f, func(s *followStream) error {
		for s.Err() == nil {
			e, err := f.Next(ctx)
			if e == nil || err != nil {
				return err
			}
			data, err := e.Encoded(datasetEvent)
			if err != nil {
				return err
			}
			name := "document"
			if e.Dataset != nil {
				name = "idle"
			}
			s.encoded(name, data)
		}
		return nil
	})
	return nil
}

// datasetEvent returns the data of an event.
func datasetEvent(e *app.DatasetEvent) ([]byte, error) {
	if e.Dataset != nil {
		return json.Marshal(datasetViewOf(*e.Dataset))
	}
	return json.Marshal(documentViewOf(*e.Document))
}
