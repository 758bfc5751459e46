package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// Other documents have max_concurrency for concurrency.
func TestMaxConcurrency(t *testing.T) {
	for _, c := range []struct {
		params string
		want   int
	}{
		{`{"max_concurrency": 4}`, 4},
		{`{"max_concurrency": 4, "concurrency": 2}`, 2},
		{`{"concurrency": 3}`, 3},
	} {
		concurrency, _ := parse(t, c.params).Get("concurrency").Int()
		options := ItemOptions{Concurrency: int(concurrency)}
		iteration, loop := &Iteration{ItemOptions: options}, &Loop{ItemOptions: options}
		require.NoError(t, iteration.Init(&engine.Setup{Params: parse(t, c.params)}))
		require.NoError(t, loop.Init(&engine.Setup{Params: parse(t, c.params)}))
		require.Equal(t, c.want, iteration.Concurrency, c.params)
		require.Equal(t, c.want, loop.Concurrency, c.params)
	}
	for _, kind := range []string{"Iteration", "Loop"} {
		_, err := loadNode(kind, `{"max_concurrency": 0}`, "")
		require.ErrorContains(t, err, "max_concurrency")
		c := node(t, kind, `{"max_concurrency": 2}`, "")
		for _, d := range c.Validate() {
			require.NotEqual(t, engine.CodeUnknownParam, d.Code, d.String())
		}
	}
}
