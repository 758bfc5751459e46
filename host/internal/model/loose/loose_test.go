package loose

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestNumbers(t *testing.T) {
	for text, want := range map[string]int64{
		`7`: 7, `"7"`: 7, `" -7 "`: -7, `7.9`: 7, `"7.9"`: 7, `1e99`: 1 << 62, `-1e99`: -1 << 62,
	} {
		v, err := engine.ParseJSON([]byte(text))
		require.NoError(t, err)
		n, ok := Number(v)
		require.True(t, ok, text)
		require.Equal(t, want, n, text)
	}
	for _, text := range []string{`null`, `true`, `""`, `"x"`, `[7]`, `{}`} {
		v, err := engine.ParseJSON([]byte(text))
		require.NoError(t, err)
		_, ok := Number(v)
		require.False(t, ok, text)
	}
}

func TestTruthValues(t *testing.T) {
	for text, want := range map[string]bool{
		`true`: true, `"true"`: true, `" TRUE "`: true, `1`: true, `"1"`: true,
		`false`: false, `"false"`: false, `0`: false,
		`"0"`: false, `null`: false, `""`: false, `"x"`: false, `[]`: false,
	} {
		v, err := engine.ParseJSON([]byte(text))
		require.NoError(t, err)
		require.Equal(t, want, True(v), text)
	}
}
