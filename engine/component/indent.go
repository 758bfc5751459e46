package component

import "github.com/easel-canvas/easel/engine"

// indentedMost bounds indented JSON. Longer or deeper values are written without indentation, which
// models read as well.
const indentedMost = 1 << 20

// indented returns JSON indented by four spaces per level.
func indented(v engine.Value) string {
	if v.Size() > indentedMost {
		return v.Text()
	}
	return string(appendIndented(nil, v, "\n"))
}

func appendIndented(dst []byte, v engine.Value, newline string) []byte {
	if v.Len() == 0 || !isContainer(v) {
		return v.AppendText(dst)
	}
	inner := newline + "    "
	open, end := byte('['), byte(']')
	if v.Kind() == engine.KindObject {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, inner...)
		if v.Kind() == engine.KindObject {
			dst = append(engine.AppendQuoted(dst, v.Key(i)), ": "...)
		}
		dst = appendIndented(dst, v.At(i), inner)
	}
	return append(append(dst, newline...), end)
}
