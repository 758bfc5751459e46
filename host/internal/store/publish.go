package store

import (
	"context"
	"fmt"
)

// Publication is the version of a canvas that its users run, independent of later edits of the
// document.
type Publication struct {
	// Released reports that the newest version is the published one. Writers set it to publish; see
	// [Canvases.Edit].
	Released     bool
	Published    string // id of the published version; "" if none
	Publisher    string // the member who published it; see [Canvases.Edit]
	PublishTime  int64  // Unix milliseconds
	VersionTitle string // title of the newest version
}

// publication is whether a version is published, and by whom.
type publication struct {
	publish bool
	by      string
}

// publish publishes a version. The caller has updated the row of the canvas in this transaction.
func (s Canvases) publish(ctx context.Context, q querier, canvas, version, by string, at int64) error {
	const mark = `UPDATE versions SET publish_time = $1 WHERE id = $2 AND canvas_id = $3`
	res, err := q.ExecContext(ctx, mark, at, version, canvas)
	if err := changed(res, err, ErrNotFound); err != nil {
		return err
	}
	const point = `UPDATE canvases SET published = $1, publish_time = $2, publisher = $4, released = CASE WHEN $1 =
		(SELECT id FROM versions WHERE canvas_id = $3 ORDER BY number DESC LIMIT 1) THEN 1 ELSE 0 END WHERE id = $3`
	_, err = q.ExecContext(ctx, point, version, at, canvas, by)
	return err
}

// Publish publishes an existing version, such as an older one, on behalf of a member; the document
// of the canvas does not change. Errors: [ErrNotFound], also for a version of another canvas;
// [ErrInvalid].
func (s Canvases) Publish(ctx context.Context, tenant, canvas, version, by string) (Canvas, error) {
	if err := checkText("publisher", by); err != nil {
		return Canvas{}, fail(err, "publish version %q", version)
	}
	// Cached data of runs is keyed by the revision of the canvas.
	const touch = `UPDATE canvases SET rev = rev + 1, update_time = $1 WHERE id = $2 AND tenant_id = $3`
	err := s.write(ctx, fmt.Sprintf("publish version %q of canvas %q", version, canvas), func(ctx context.Context, q querier) error {
		now := s.ms()
		res, err := q.ExecContext(ctx, touch, now, canvas, tenant)
		if err := changed(res, err, ErrNotFound); err != nil {
			return err
		}
		return s.publish(ctx, q, canvas, version, by, now)
	})
	if err != nil {
		return Canvas{}, err
	}
	return s.Get(ctx, tenant, canvas)
}
