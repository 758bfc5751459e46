package sheet

import (
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// concat puts the rows of tables below each other; columns are matched by name.
func concat(tables []table) (table, error) {
	out, index := table{name: "merged"}, map[string]int{}
	for _, t := range tables {
		at := make([]int, len(t.columns))
		for i, c := range t.columns {
			at[i] = out.column(c, index)
		}
		for _, row := range t.rows {
			values := make([]engine.Value, len(out.columns))
			for i, v := range row {
				values[at[i]] = v
			}
			out.rows = append(out.rows, values)
		}
		if len(out.columns)*len(out.rows) > mostCells {
			return table{}, fmt.Errorf("%w: more than %d", ErrTooLarge, mostCells)
		}
	}
	out.even()
	return out, nil
}

func (t *table) column(name string, index map[string]int) int {
	i, known := index[name]
	if !known {
		i = len(t.columns)
		index[name] = i
		t.columns = append(t.columns, name)
	}
	return i
}

// join matches the rows of tables by the values of a column; rows without a partner stay, with
// empty cells. A column that several tables have gets the name of its table.
func join(tables []table, on string) (table, error) {
	for _, t := range tables {
		if !slices.Contains(t.columns, on) {
			return table{}, fmt.Errorf(
				"%w: join_on %q is not a column of %s (its columns: %q)",
				ErrInput,
				on,
				t.name,
				t.columns,
			)
		}
	}
	out := tables[0]
	for _, t := range tables[1:] {
		var err error
		if out, err = joinTwo(out, t, on); err != nil {
			return table{}, err
		}
	}
	out.name = "merged"
	return out, nil
}

func joinTwo(left, right table, on string) (table, error) {
	out := table{columns: slices.Clone(left.columns)}
	leftKey, rightKey := slices.Index(left.columns, on), slices.Index(right.columns, on)
	at := make([]int, len(right.columns)) // where a column of right goes
	for i, c := range right.columns {
		if i == rightKey {
			at[i] = leftKey
			continue
		}
		for slices.Contains(out.columns, c) {
			c += " (" + right.name + ")"
		}
		at[i] = len(out.columns)
		out.columns = append(out.columns, c)
	}
	partners := map[string][]int{}
	for i, row := range right.rows {
		key := row[rightKey].JSON()
		partners[key] = append(partners[key], i)
	}
	matched := make([]bool, len(right.rows))
	add := func(l, r []engine.Value) error {
		values := make([]engine.Value, len(out.columns))
		copy(values, l)
		for i, v := range r {
			values[at[i]] = v
		}
		out.rows = append(out.rows, values)
		if len(out.rows)*len(out.columns) > mostCells {
			return fmt.Errorf("%w: more than %d", ErrTooLarge, mostCells)
		}
		return nil
	}
	for _, row := range left.rows {
		found := partners[row[leftKey].JSON()]
		if len(found) == 0 || row[leftKey].Kind() == engine.KindNull {
			if err := add(row, nil); err != nil {
				return out, err
			}
			continue
		}
		for _, i := range found {
			matched[i] = true
			if err := add(row, right.rows[i]); err != nil {
				return out, err
			}
		}
	}
	for i, row := range right.rows {
		if !matched[i] {
			if err := add(nil, row); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}
