// Package loose reads values in the answers of servers, which may write numbers and truth values as
// text.
package loose

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Number reads a number, also one that is written as text. Fractions are cut.
func Number(v engine.Value) (int64, bool) {
	if v.Kind() == engine.KindString {
		v, _ = engine.ParseNumber(strings.TrimSpace(v.Str()))
	}
	if v.Kind() != engine.KindNumber {
		return 0, false
	}
	if n, ok := v.Int(); ok {
		return n, true
	}
	f, ok := v.Float()
	return int64(min(max(f, -1<<62), 1<<62)), ok // the conversion of a larger number has no defined result
}

// True reports whether a value is true, also as text or as a number other than 0.
func True(v engine.Value) bool {
	if v.Kind() == engine.KindString && strings.EqualFold(strings.TrimSpace(v.Str()), "true") {
		return true
	}
	n, ok := Number(v)
	return v.True() || ok && n != 0
}
