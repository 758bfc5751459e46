package index

import "fmt"

// Rows is the result of an SQL query with any driver.
type Rows interface {
	Next() bool
	Scan(into ...any) error
	Err() error
}

// ReadValues collects rows of a metadata value and a document that has it.
func ReadValues(rows Rows) (map[string][]int64, error) {
	out := map[string][]int64{}
	for rows.Next() {
		var value string
		var document int64
		if err := rows.Scan(&value, &document); err != nil {
			return nil, err
		}
		out[value] = append(out[value], document)
	}
	return out, rows.Err()
}

// ReadCounts collects rows of a metadata key, a value and the number of documents that have it.
func ReadCounts(rows Rows) (map[string]map[string]int, error) {
	out := map[string]map[string]int{}
	for rows.Next() {
		var key, value string
		var n int
		if err := rows.Scan(&key, &value, &n); err != nil {
			return nil, err
		}
		if out[key] == nil {
			out[key] = map[string]int{}
		}
		out[key][value] = n
	}
	return out, rows.Err()
}

// ReadVersions collects rows of the key of a document and its version.
func ReadVersions(rows Rows) (map[string]int64, error) {
	out := map[string]int64{}
	for rows.Next() {
		var key string
		var version int64
		if err := rows.Scan(&key, &version); err != nil {
			return nil, err
		}
		out[key] = version
	}
	return out, rows.Err()
}

// ReadNumbered collects rows by their numbers. scan reads the current row.
func ReadNumbered[T any](rows Rows, scan func() (number int64, row T, err error)) (map[int64]T, error) {
	out := map[int64]T{}
	for rows.Next() {
		number, row, err := scan()
		if err != nil {
			return nil, err
		}
		out[number] = row
	}
	return out, rows.Err()
}

// UnitVector returns the vector of a chunk with length 1, nil if it has none. The first vector of a
// dataset sets its dimensions, which are 0 before.
func (c *Chunk) UnitVector(dims *int) ([]float32, error) {
	if c.Vector == nil {
		return nil, nil
	}
	if *dims == 0 {
		*dims = len(c.Vector)
	}
	if len(c.Vector) != *dims {
		return nil, fmt.Errorf("vector has %d dimensions, those of the dataset have %d", len(c.Vector), *dims)
	}
	return Unit(c.Vector)
}
