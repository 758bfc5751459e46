package contract

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLimits(t *testing.T) {
	got := Limits{MemoryMB: 8, TimeoutMS: 90_000}.Effective(Limits{MemoryMB: 16, Fuel: 5})
	require.Equal(t, Limits{MemoryMB: 8, TimeoutMS: DefaultLimits.TimeoutMS, OutputKB: DefaultLimits.OutputKB, Fuel: 5},
		got)
}
