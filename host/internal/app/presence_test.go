package app_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

func TestPresenceCountsPagesOfVisitors(t *testing.T) {
	t.Parallel()
	p := app.NewPresence()
	ana, ben := app.Visitor{ID: "1", Name: "Ana"}, app.Visitor{ID: "2", Name: "Ben"}
	require.Empty(t, p.Others("canvas", "a"))
	leaveA := p.Enter("canvas", "a", ana)
	leaveB := p.Enter("canvas", "b", ben)
	p.Enter("canvas", "c", ben)
	p.Enter("other", "d", ana)
	require.Equal(t, []app.Present{{Visitor: ben, Pages: 2}}, p.Others("canvas", "a"))
	require.Equal(t, []app.Present{{Visitor: ana, Pages: 1}, {Visitor: ben, Pages: 1}}, p.Others("canvas", "b"))

	again := p.Enter("canvas", "a", ana) // before the lost connection has ended
	leaveA()
	require.Len(t, p.Others("canvas", "b"), 2)
	again()
	leaveB()
	require.Equal(t, []app.Present{{Visitor: ben, Pages: 1}}, p.Others("canvas", "a"))
}

// Others are counted once for all pages.
func TestOthersAreCountedOnce(t *testing.T) {
	cost := func(pages int) time.Duration {
		p := app.NewPresence()
		for i := range pages {
			p.Enter("canvas", fmt.Sprint(i), app.Visitor{ID: "1", Name: "Ana"})
		}
		before := servertest.ProcessorTime()
		for i := range 1000 {
			require.Equal(t, pages-1, p.Others("canvas", fmt.Sprint(i%pages))[0].Pages)
		}
		return servertest.ProcessorTime() - before
	}
	few, many := cost(10), cost(10_000)
	require.Less(t, many, 10*few+50*time.Millisecond, "%v for few pages", few)
}
