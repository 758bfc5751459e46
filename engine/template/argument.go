package template

// text is argument i as a string, or standard when it was not given.
func (a *args) text(r *render, i int, standard string) string {
	v := a.at(i)
	if v == nil {
		return standard
	}
	r.needDefined(v)
	s, ok := asText(v)
	if !ok {
		r.fail("argument %d must be a string, not %s", i+1, typeName(v))
	}
	return s
}

// int is argument i as an integer, or standard when it was not given.
func (a *args) int(r *render, i, standard int) int {
	v := a.at(i)
	if v == nil {
		return standard
	}
	return r.needInt(v)
}

// truth is argument i as a boolean, or standard when it was not given.
func (a *args) truth(r *render, i int, standard bool) bool {
	v := a.at(i)
	if v == nil {
		return standard
	}
	return r.truth(v)
}

// needInt is v as an integer that fits an index.
func (r *render) needInt(v value) int {
	r.needDefined(v)
	switch n := v.(type) {
	case int64:
		return int(min(max(n, minIndex), maxIndex))
	case bool:
		if n {
			return 1
		}
		return 0
	case digits:
		if n.negative() {
			return minIndex
		}
		return maxIndex
	}
	r.fail("expected an integer, got %s", typeName(v))
	return 0
}

// Integers beyond these are treated alike wherever they are lengths or places; they are far from overflow.
const (
	maxIndex = 1 << 60
	minIndex = -maxIndex
)

// isNone reports whether an argument was given as none or not at all.
func isNone(v value) bool {
	_, ok := v.(none)
	return ok || v == nil
}
