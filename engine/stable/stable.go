// Package stable sorts slices. It exists alongside slices.SortStableFunc and slices.Sort because
// the compiler instantiates those for each element type: in the browser module one instance takes 8
// to 20 KB, one of Sort less than 1 KB. The functions are safe for concurrent use on different
// slices.
package stable

import "strings"

// run is the length up to which insertion sort is faster than merging.
const run = 12

// Sort sorts list by compare and preserves the order of equal elements. It needs O(n log n)
// comparisons and, for more than a few elements, memory for two integers per element. compare must
// not change the list.
func Sort[T any](list []T, compare func(a, b T) int) {
	var few [run]int
	from := order(len(list), few[:], func(a, b int) int { return compare(list[a], list[b]) })
	for start := range from {
		first, at := list[start], start
		for from[at] != start {
			next := from[at]
			list[at], from[at] = list[next], at
			at = next
		}
		list[at], from[at] = first, at
	}
}

// order returns for each place the index of the element that belongs there. It does not depend on
// the type of the elements, so that the module contains it once. Up to run indexes are in few.
func order(n int, few []int, compare func(a, b int) int) []int {
	if n > run {
		few = make([]int, 2*n)
	}
	from, to := few[:n], few[n:]
	for i := range from {
		from[i] = i
		for k := i; k%run > 0 && compare(from[k], from[k-1]) < 0; k-- {
			from[k], from[k-1] = from[k-1], from[k]
		}
	}
	for width := run; width < n; width *= 2 {
		to = to[:n]
		for start := 0; start < n; start += 2 * width {
			middle, end := min(start+width, n), min(start+2*width, n)
			a, b := start, middle
			for i := start; i < end; i++ {
				if b == end || a < middle && compare(from[b], from[a]) >= 0 {
					to[i] = from[a]
					a++
				} else {
					to[i] = from[b]
					b++
				}
			}
		}
		from, to = to, from
	}
	return from
}

// Strings sorts list in ascending order and returns it.
func Strings(list []string) []string {
	Sort(list, strings.Compare)
	return list
}
