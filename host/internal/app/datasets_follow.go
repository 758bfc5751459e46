package app

import (
	"log/slog"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/knowledge/follow"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// DatasetEvent is an event for followers of a dataset.
type DatasetEvent = follow.Event

type followed = follow.Follower

// ErrDatasetGone ends a follower whose dataset was deleted or is not visible to the principal.
var ErrDatasetGone = follow.ErrGone

// DatasetFollowers has the followers of all datasets on this host.
type DatasetFollowers struct {
	watched       watched
	store         *store.Store
	records       *follow.Watch
	watchedFolder *follow.Watch // nil without a folder
}

func newDatasetFollowers(s *store.Store, w watched, logger *slog.Logger) DatasetFollowers {
	f := DatasetFollowers{
		watched: w, store: s, records: follow.New(follow.Config{Source: s.Changes, Logger: logger}),
	}
	if w.folder != nil {
		f.watchedFolder = follow.New(follow.Config{Source: w.folder.Changes(), Logger: logger})
	}
	return f
}

// Follow returns a follower of the documents of a dataset, which the caller closes. It ends with
// [ErrDatasetGone].
func (f *DatasetFollowers) Follow(p Principal, id string) *DatasetFollower {
	if _, ok := f.watched.key(p, id); ok {
		return &DatasetFollower{p: p, followed: f.watchedFolder.Follow(id, func(dataset.Head) bool {
			_, ok := f.watched.key(p, id)
			return ok
		})}
	}
	out := &DatasetFollower{p: p, records: f.store}
	out.followed = f.records.Follow(id, func(h dataset.Head) bool {
		out.policy = h.Policy // events are returned after this call
		return p.Viewer().May(access.Object{
			Tenant: h.Tenant, Owner: h.CreatedBy, Team: h.Team, Kind: access.Dataset, ID: h.ID, Project: h.Project,
		})
	})
	return out
}
