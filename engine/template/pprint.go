package template

// filterPprint prints a value on one line, with the keys of objects sorted.
func filterPprint(r *render, v value, _ *args) value {
	p := &printer{r: r, sorted: true}
	p.value(v)
	return r.made(string(p.buf))
}

// prettyLess orders the keys of an object for pprint: by type, and within texts and numbers by value.
func (r *render) prettyLess(a, b value) bool {
	_, textA := asText(a)
	_, textB := asText(b)
	if textA == textB && (textA || number(a) != nil && number(b) != nil) {
		return r.less(a, b)
	}
	return typeName(a) < typeName(b)
}
