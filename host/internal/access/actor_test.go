package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
)

func TestActorOfRun(t *testing.T) {
	var (
		visitor   = access.Actor{}
		bob       = access.Actor{User: "bob", As: access.Present}
		draft     = access.Actor{User: "ann", As: access.Author}
		published = access.Actor{User: "ann", As: access.Publisher}
	)
	require.Equal(t, draft, visitor.On(draft, false), "unattended, the author of the draft")
	require.Equal(t, published, visitor.On(published, false))
	require.Equal(t, bob, bob.On(draft, false))
	require.Equal(t, published, bob.On(published, false), "a published version acts for its publisher")
	require.Equal(t, bob, bob.On(published, true), "other outputs of nodes are not the publisher's")
	require.Equal(t, bob, bob.On(access.Actor{}, false))
	require.False(t, bob.Unattended())
	require.True(t, visitor.Unattended())
}

func TestActorInside(t *testing.T) {
	var (
		bob      = access.Actor{User: "bob", As: access.Present}
		bobsPage = access.Actor{User: "bob", As: access.Publisher}
		anns     = access.Actor{User: "ann", As: access.Author}
		bobs     = access.Actor{User: "bob", As: access.Author}
		annsPage = access.Actor{User: "ann", As: access.Publisher}
	)
	require.Equal(t, annsPage, bob.Inside(annsPage))
	require.Equal(t, annsPage, bobsPage.Inside(annsPage))
	require.Equal(t, bob, bob.Inside(anns), "a draft acts for who runs it")
	require.Equal(t, bobsPage, bobsPage.Inside(bobs))
	require.Equal(t, access.Actor{As: access.Publisher}, bobsPage.Inside(anns), "who edits the draft gets no rights")
}
