package stable

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type pair struct{ key, place int }

func TestSortAgreesWithSlices(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	for size := range 300 {
		list := make([]pair, size)
		for i := range list {
			list[i] = pair{rnd.IntN(1 + size/3), i}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		Sort(list, byKey)
		require.Equal(t, want, list, "%d elements", size)
	}
}

func TestSortTakesFewComparisons(t *testing.T) {
	t.Parallel()
	const size = 1 << 14
	for name, key := range map[string]func(i int) int{
		"ascending": func(i int) int { return i }, "descending": func(i int) int { return -i },
		"equal": func(int) int { return 0 }, "mixed": func(i int) int { return i * 7919 % size },
	} {
		list := make([]int, size)
		for i := range list {
			list[i] = key(i)
		}
		count := 0
		Sort(list, func(a, b int) int { count++; return cmp.Compare(a, b) })
		require.True(t, slices.IsSorted(list), name)
		require.Less(t, count, size*20, name)
	}
}

func TestStringsSortsInPlace(t *testing.T) {
	t.Parallel()
	list := strings.Fields("pear apple fig banana")
	require.Equal(t, "apple banana fig pear", strings.Join(Strings(list), " "))
	require.Equal(t, "apple", list[0])
}
