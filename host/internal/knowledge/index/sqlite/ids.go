package sqlite

import "slices"

// ids are the numbers of chunks or of documents, by the position of the chunk in its segment. Those
// of neighbours are mostly consecutive, or equal, so they are kept as runs: a segment takes memory
// for each document rather than for each chunk.
type ids struct {
	step   int64   // from one position to the next in a run: 1, or 0 for equal numbers
	firsts []int32 // position at which each run begins
	values []int64 // number at that position
	count  int
}

// add appends a number.
func (l *ids) add(id int64) {
	if n := len(l.values); n == 0 || l.values[n-1]+l.step*int64(l.count-int(l.firsts[n-1])) != id {
		l.firsts, l.values = append(l.firsts, int32(l.count)), append(l.values, id)
	}
	l.count++
}

// extend appends the numbers of another list.
func (l *ids) extend(more *ids) {
	for run := range more.values {
		first, end := more.run(run)
		l.add(more.values[run])
		l.count += end - first - 1
	}
}

// run returns the beginning and the end of a run.
func (l *ids) run(n int) (first, end int) {
	if n+1 < len(l.firsts) {
		return int(l.firsts[n]), int(l.firsts[n+1])
	}
	return int(l.firsts[n]), l.count
}

// at returns the number at a position.
func (l *ids) at(position int) int64 {
	run, found := slices.BinarySearch(l.firsts, int32(position))
	if !found {
		run--
	}
	return l.values[run] + l.step*int64(position-int(l.firsts[run]))
}

// last returns the number at the last position.
func (l *ids) last() int64 { return l.at(l.count - 1) }

// find returns the position of a number in ascending ones, or -1.
func (l *ids) find(id int64) int {
	run, found := slices.BinarySearch(l.values, id)
	if !found {
		run--
	}
	if run < 0 {
		return -1
	}
	first, end := l.run(run)
	if distance := id - l.values[run]; distance < int64(end-first) {
		return first + int(distance)
	}
	return -1
}

// list returns all numbers.
func (l *ids) list() []int64 {
	out := make([]int64, l.count)
	for run, value := range l.values {
		first, end := l.run(run)
		for i := first; i < end; i++ {
			out[i] = value + l.step*int64(i-first)
		}
	}
	return out
}
