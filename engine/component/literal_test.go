package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// FuzzLiteral checks that any text is parsed or refused without a panic, and that the result is
// JSON.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{
		`{'a': [1, (2, None)]}`, `{1, 2}`, `'\x41' "b"`, `[1e9, -.5, ]`, `(`, `'''`, `{'a' 1}`,
		`1.2.3`, "\\",
	} {
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
