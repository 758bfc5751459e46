package app

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// A failed installation is the result of all requests that waited for it: they do not download in
// turn. A request that comes later tries again.
func TestInstallPythonOnceForAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed, calls, end := errors.New("no registry"), 0, make(chan struct{})
		s := &Scripts{
			missing: func(string) error { return errors.New("no Python") },
			install: func(context.Context) error {
				calls++
				<-end
				return failed
			},
		}
		const all = 5
		results := make(chan error, all)
		for range all {
			go func() { results <- s.InstallPython(t.Context()) }()
		}
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		leave()
		if err := s.InstallPython(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a request that has ended: %v", err)
		}
		close(end)
		for range all {
			if err := <-results; !errors.Is(err, failed) {
				t.Errorf("got %v, want %v", err, failed)
			}
		}
		if calls != 1 {
			t.Errorf("%d installations for requests at the same time, want 1", calls)
		}
		if err := s.InstallPython(t.Context()); !errors.Is(err, failed) || calls != 2 {
			t.Errorf("later: %v after %d installations, want %v after 2", err, calls, failed)
		}
	})
}
