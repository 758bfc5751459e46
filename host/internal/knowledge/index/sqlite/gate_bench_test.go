package sqlite

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/testing/indextest"
)

// BenchmarkGate compares the median time of a search by words of 100,000 chunks through a gate that
// opens half of the documents, all of them, or none with that without one: "ratio".
func BenchmarkGate(b *testing.B) {
	const chunks = 100_000
	x := open(b, "")
	require.NoError(b, x.Create(b.Context(), ds, index.Settings{}))
	n := 0
	for d := range indextest.NewCorpus(1).Documents(chunks, 0) {
		list, err := access.ListOf("group:all", []string{"group:even", "group:odd"}[n%2])
		require.NoError(b, err)
		d.Access = list
		n++
		require.NoError(b, x.Replace(b.Context(), ds, d))
	}
	questions := indextest.NewCorpus(2).Queries("mixed", 40)
	gates := map[string]map[string]access.Gate{"without": nil}
	for _, group := range []string{"even", "all", "none"} {
		gates[group] = map[string]access.Gate{ds: {Reader: access.Reader{Groups: access.GroupsOf(group)}}}
	}
	median := func(gates map[string]access.Gate) time.Duration {
		var took []time.Duration
		for _, q := range questions {
			began := time.Now()
			_, err := x.Search(b.Context(), &index.Query{Datasets: []string{ds}, Text: q, Gates: gates})
			require.NoError(b, err)
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	for _, name := range []string{"even", "all", "none"} {
		b.Run(name, func(b *testing.B) {
			var with, without time.Duration
			for b.Loop() {
				without += median(nil)
				with += median(gates[name])
			}
			b.ReportMetric(float64(with)/float64(without), "ratio")
			b.ReportMetric(float64(without.Microseconds())/float64(b.N), "us/search-without")
		})
	}
	b.Run("first", func(b *testing.B) { // after a change of the dataset or for a new reader
		var with, without time.Duration
		for i := 0; b.Loop(); i++ {
			without += median(nil)
			began := time.Now()
			reader := access.Reader{User: fmt.Sprint(i), Groups: access.GroupsOf("even")}
			_, err := x.Search(b.Context(), &index.Query{
				Datasets: []string{ds}, Text: questions[0], Gates: map[string]access.Gate{ds: {Reader: reader}},
			})
			require.NoError(b, err)
			with += time.Since(began)
		}
		b.ReportMetric(float64(with)/float64(without), "ratio")
	})
}
