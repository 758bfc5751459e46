package app

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"
)

// ScriptLanguages are the languages of CodeExec.
var ScriptLanguages = []string{"python", "javascript"}

// installTime bounds an installation: a download and the first compilation.
const installTime = 10 * time.Minute

// Scripts are the languages in which this host runs scripts of canvases.
type Scripts struct {
	missing    func(language string) error
	install    func(ctx context.Context) error
	installing singleflight.Group
}

// Missing returns why scripts of a language cannot run here, and nil if they can.
func (s *Scripts) Missing(language string) error {
	if s.missing == nil {
		return nil
	}
	return s.missing(language)
}

// Installs reports whether [Scripts.InstallPython] can work.
func (s *Scripts) Installs() bool { return s.install != nil }

// InstallPython adds an interpreter for Python, unless there is one. It continues when the request
// ends, since a person may close the page. Requests that come while it runs get its result.
func (s *Scripts) InstallPython(ctx context.Context) error {
	if s.install == nil {
		return Refuse(CodeBadArgument, "this host cannot install Python; use easel python install")
	}
	result := s.installing.DoChan("python", func() (any, error) {
		if s.Missing("python") == nil {
			return nil, nil
		}
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), installTime)
		defer done()
		return nil, s.install(ctx)
	})
	select {
	case r := <-result:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}
