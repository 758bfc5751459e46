package api

import (
	"slices"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

// appendSorted writes JSON as the original does: keys sorted, no spaces, what
// is not ASCII escaped. Documents under "dsl" keep their order, which means
// something to a canvas.
func appendSorted(dst []byte, v engine.Value) []byte {
	switch v.Kind() {
	case engine.KindObject:
		keys := make([]string, 0, v.Len())
		for k := range v.Fields() {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		dst = append(dst, '{')
		for i, k := range keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendASCII(dst, engine.AppendQuoted(nil, k))
			dst = append(dst, ':')
			if k == "dsl" {
				dst = AppendASCII(dst, v.Get(k).AppendJSON(nil))
			} else {
				dst = appendSorted(dst, v.Get(k))
			}
		}
		return append(dst, '}')
	case engine.KindList:
		dst = append(dst, '[')
		for i, x := range v.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendSorted(dst, x)
		}
		return append(dst, ']')
	}
	return AppendASCII(dst, v.AppendJSON(nil))
}

// AppendASCII escapes what is not ASCII in JSON text; outside of strings there
// is nothing of the kind.
func AppendASCII(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	unit := func(u rune) {
		dst = append(dst, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	for len(text) > 0 {
		if text[0] < utf8.RuneSelf {
			dst = append(dst, text[0])
			text = text[1:]
			continue
		}
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if r >= 0x10000 {
			r -= 0x10000
			unit(0xD800 + r>>10)
			unit(0xDC00 + r&0x3FF)
			continue
		}
		unit(r)
	}
	return dst
}
