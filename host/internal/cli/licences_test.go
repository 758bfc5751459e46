package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLicences(t *testing.T) {
	code, out, errs := easel(t, "licences")
	require.Equal(t, ExitOK, code, errs)
	notice, err := os.ReadFile("../../../NOTICE")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(out, string(notice)))
	for _, text := range []string{
		"easel: LICENSE\n", "END OF TERMS AND CONDITIONS", "FreeType Project LICENSE",
		"\nreact 1", "QuickJS Javascript Engine",
	} {
		require.Contains(t, out, text)
	}
	code, _, errs = easel(t, "licences", "react")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "expected no arguments")
}
