package template

import "strings"

func filterDefault(r *render, v value, a *args) value {
	if !isUndefined(v) && (r.truth(v) || !a.truth(r, 1, false)) {
		return v
	}
	if standard := a.at(0); standard != nil {
		return standard
	}
	return ""
}

// filterAttr finds attributes, never members.
func filterAttr(r *render, v value, a *args) value {
	r.needDefined(v)
	name := r.str(a.at(0))
	if !hidden(name) {
		if x := r.ownAttribute(v, name); x != nil {
			return x
		}
	}
	return r.missing(v, name)
}

func filterItems(r *render, v value, _ *args) value {
	return &generator{r.lateItems(v)}
}

// lateItems looks at v when the first pair is asked for.
func (r *render) lateItems(v value) func() (value, bool) {
	var next func() (value, bool)
	return func() (value, bool) {
		if next == nil {
			switch d := v.(type) {
			case *undefined:
				next = sequence(nil)
			case *dict:
				next = entrySequence(d, viewItems)
			default:
				r.fail("items needs an object, not %s", r.describe(v))
			}
		}
		r.spend(1)
		return next()
	}
}

func filterDictsort(r *render, v value, a *args) value {
	d, ok := v.(*dict)
	if !ok {
		r.needDefined(v)
		r.fail("dictsort needs an object, not %s", r.describe(v))
	}
	place := int64(0)
	switch by := a.text(r, 1, "key"); by {
	case "key":
	case "value":
		place = 1
	default:
		r.fail(`dictsort sorts by "key" or "value", not %q`, by)
	}
	key := r.sortKey(place, a.truth(r, 0, false))
	return newList(r.sorted(r.collect(&view{d, viewItems}), key, a.truth(r, 2, false)))
}

func filterXmlattr(r *render, v value, a *args) value {
	d, ok := v.(*dict)
	if !ok {
		r.fail("xmlattr needs an object, not %s", r.describe(v))
	}
	var parts []string
	for _, e := range d.all() {
		if isNone(e.value) || isUndefined(e.value) {
			continue
		}
		key := r.str(e.key)
		if strings.ContainsFunc(key, func(c rune) bool { return isSpace(c) || strings.ContainsRune("/>=", c) }) {
			r.fail("%q cannot be the name of an attribute", key)
		}
		parts = append(parts, string(r.escape(key))+`="`+string(r.escape(e.value))+`"`)
	}
	s := strings.Join(parts, " ")
	if s != "" && a.truth(r, 0, true) {
		s = " " + s
	}
	return r.markup(r.made(s))
}

// filterUrlencode escapes a text for a URL, or makes a query string of an object or pairs.
func filterUrlencode(r *render, v value, _ *args) value {
	var pairs value
	switch v := v.(type) {
	case *dict:
		pairs = &view{v, viewItems}
	case string, safe, hollow:
		return r.made(urlQuote(r.str(v), "/", false))
	default:
		if r.elements(v) == nil {
			return r.made(urlQuote(r.str(v), "/", false))
		}
		pairs = v
	}
	var parts []string
	r.each(pairs, func(pair value) {
		kv := r.collect(pair)
		if len(kv) != 2 {
			r.fail("urlencode needs pairs, got %d values", len(kv))
		}
		parts = append(parts, r.made(urlQuote(r.str(kv[0]), "", true)+"="+urlQuote(r.str(kv[1]), "", true)))
	})
	return r.made(strings.Join(parts, "&"))
}

// urlQuote escapes all but letters, digits and _.-~ and the given characters. In a query a blank becomes "+".
func urlQuote(s, keep string, query bool) string {
	buf := make([]byte, 0, len(s)+len(s)/4)
	for i := range len(s) {
		c := s[i]
		switch {
		case digitValue(c) < 36 || strings.IndexByte("_.-~", c) >= 0 || strings.IndexByte(keep, c) >= 0:
			buf = append(buf, c)
		case c == ' ' && query:
			buf = append(buf, '+')
		default:
			buf = append(buf, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		}
	}
	return string(buf)
}
