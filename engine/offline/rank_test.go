package offline

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRank(t *testing.T) {
	passages := []string{"Shipping takes three days.", "Returns are free for thirty days.", "退货在三十天内免费。", "Nothing of use."}
	for _, c := range []struct {
		name, query string
		want        []int
	}{
		{"rare words weigh more", "free returns in days", []int{1, 0}},
		{"Chinese", "怎么退货", []int{2}},
		{"no word in common", "weather", nil},
		{"nothing asked", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			for _, m := range Rank(c.query, passages) {
				got = append(got, m.Index)
				require.Greater(t, m.Score, 0.0)
				require.LessOrEqual(t, m.Score, 1.0)
			}
			require.Equal(t, c.want, got)
		})
	}
}
