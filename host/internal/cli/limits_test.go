package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestLimitFlag(t *testing.T) {
	var l limits
	require.NoError(t, l.Set("text=64MiB, state=-1"))
	require.NoError(t, l.Set("model_calls=20"))
	require.Equal(t, engine.Limits{Text: 64 << 20, State: -1, ModelCalls: 20}, l.Limits)
	require.Equal(t, "text=64MiB, state=-1,model_calls=20", l.String())
	for text, want := range map[string]string{
		"text":                    `"text": NAME=N is needed, such as text=64MiB`,
		"text=big":                `text: "big": a number such as 1000, 64MiB or -1 is needed`,
		"text=-2":                 `text: "-2": a number such as 1000, 64MiB or -1 is needed`,
		"text=9999999999999GiB":   `text: "9999999999999GiB": a number such as 1000, 64MiB or -1 is needed`,
		"texts=1":                 `unknown limit "texts" (one of [text output state event events model_calls tokens])`,
		"text=1,,":                `"": NAME=N is needed, such as text=64MiB`,
		"text=100000000000000000": "",
	} {
		err := l.Set(text)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.EqualError(t, err, want, text)
	}
}
