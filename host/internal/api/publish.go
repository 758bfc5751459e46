package api

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Published versions. In the 0.27 dialect who saves a canvas with release
// publishes it, and who asks with release gets what was published last, whatever
// became of the canvas. The older dialect has none: release changes nothing
// there. Our own API says it with routes and members of its own (v2_version.go).

// release says whether a request wants the published version.
func (c *call) release() bool {
	return c.newest() && c.flag("release", c.asked("release", false))
}

// chosen is a canvas with its published document when release says so.
//
// Errors: [runs.ErrUnpublished].
func (c *call) chosen(v store.Canvas, release bool) (store.Canvas, error) {
	if !release {
		return v, nil
	}
	return c.a.cfg.Runs.Published(c.ctx(), v)
}

// publishable refuses to publish a document that does not load: nobody who uses
// it could correct it.
func (c *call) publishable(dsl []byte) error {
	if _, err := engine.Load(c.a.cfg.Registry, dsl); err != nil {
		return refused(codeArgument, "%s", err)
	}
	return nil
}
