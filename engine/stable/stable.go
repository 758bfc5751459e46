// Package stable sorts slices. It exists alongside slices.SortStableFunc and slices.Sort because
// the compiler instantiates those for each element type: in the browser module one instance takes 8
// to 20 KB, one of Sort less than 2 KB. The functions are safe for concurrent use on different
// slices.
package stable

import "strings"

// run is the length up to which insertion sort is faster than merging.
const run = 12

// Sort sorts list by compare and preserves the order of equal elements. It needs O(n log n)
// comparisons and, for more than a few elements, memory for one copy of the list.
func Sort[T any](list []T, compare func(a, b T) int) {
	for start := 0; start < len(list); start += run {
		part := list[start:min(start+run, len(list))]
		for i := 1; i < len(part); i++ {
			for k := i; k > 0 && compare(part[k], part[k-1]) < 0; k-- {
				part[k], part[k-1] = part[k-1], part[k]
			}
		}
	}
	if len(list) <= run {
		return
	}
	from, to := list, make([]T, len(list))
	passes := 0
	for width := run; width < len(list); width *= 2 {
		for start := 0; start < len(list); start += 2 * width {
			middle, end := min(start+width, len(list)), min(start+2*width, len(list))
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
		passes++
	}
	if passes%2 == 1 {
		copy(list, from)
	}
}

// Strings sorts list in ascending order and returns it.
func Strings(list []string) []string {
	Sort(list, strings.Compare)
	return list
}
