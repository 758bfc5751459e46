package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
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
