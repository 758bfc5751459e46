package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
)

func TestMay(t *testing.T) {
	private := access.Object{Tenant: "t", Owner: "ann"}
	shared := access.Object{Tenant: "t", Owner: "ann", Team: true}
	ownerless := access.Object{Tenant: "t"}
	for name, c := range map[string]struct {
		viewer                     access.Viewer
		private, shared, ownerless bool
	}{
		"owner":                   {access.Viewer{Tenant: "t", User: "ann"}, true, true, true},
		"colleague":               {access.Viewer{Tenant: "t", User: "bob"}, false, true, true},
		"no member":               {access.Viewer{Tenant: "t"}, false, true, true},
		"host":                    {access.Viewer{Tenant: "t", Whole: true}, true, true, true},
		"owner in another tenant": {access.Viewer{Tenant: "u", User: "ann"}, false, false, false},
		"host for another tenant": {access.Viewer{Tenant: "u", Whole: true}, false, false, false},
		"zero value":              {access.Viewer{}, false, false, false},
	} {
		require.Equal(t, c.private, c.viewer.May(private), "%s, private", name)
		require.Equal(t, c.shared, c.viewer.May(shared), "%s, shared", name)
		require.Equal(t, c.ownerless, c.viewer.May(ownerless), "%s, of the tenant", name)
	}
	require.False(t, access.Viewer{}.May(access.Object{}))
}

func TestBoth(t *testing.T) {
	require.Equal(t, "ann", access.Both("ann", "ann"))
	require.Empty(t, access.Both("ann", "bob"))
	require.Empty(t, access.Both("ann", ""))
}
