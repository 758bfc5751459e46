package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
)

func TestGroupsAreASet(t *testing.T) {
	require.Equal(t, access.GroupsOf("b", "a"), access.GroupsOf("a", "b", "a"))
	require.Equal(t, []string{"a", "b c"}, access.GroupsOf("b c", "a").Names())
	require.Equal(t, []string{"b"}, access.GroupsOf("", " a", "a\nall", "\xff", "b").Names())
	require.Nil(t, access.GroupsOf().Names())
}
