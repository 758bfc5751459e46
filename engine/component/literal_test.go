package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// FuzzLiteral holds that any text is read or refused without harm, and that what was read is JSON.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{`{'a': [1, (2, None)]}`, `{1, 2}`, `'\x41' "b"`, `[1e9, -.5, ]`, `(`, `'''`, `{'a' 1}`, `1.2.3`, "\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := readLiteral(s)
		if !ok {
			return
		}
		_, err := engine.ParseJSONText(v.JSON())
		require.NoError(t, err)
	})
}
