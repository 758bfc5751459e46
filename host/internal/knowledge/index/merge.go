package index

import (
	"cmp"
	"slices"
)

// Merge returns the page that a query requests of two results from different indexes, which both
// begin with the first hit.
func Merge(q *Query, a, b *Result) *Result {
	out := &Result{
		Total:       a.Total + b.Total,
		Hits:        append(slices.Clone(a.Hits), b.Hits...),
		Documents:   append(slices.Clone(a.Documents), b.Documents...),
		Diagnostics: slices.Concat(a.Diagnostics, b.Diagnostics),
	}
	slices.SortStableFunc(out.Hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	slices.SortStableFunc(out.Documents, func(a, b DocumentCount) int { return cmp.Compare(b.Count, a.Count) })
	out.Hits = out.Hits[min(q.Offset, len(out.Hits)):]
	out.Hits = out.Hits[:min(q.Limit, len(out.Hits))]
	return out
}
