package knowledge

import (
	"fmt"
	"iter"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
)

// mostValues is how many values one element of a JSON document has at most. Parsed, each takes some
// 50 bytes.
const mostValues = 500_000

// parseJSON parses a value that is not larger than what is held in memory at once.
func parseJSON(text string) (engine.Value, error) {
	if n := strings.Count(text, ",") + strings.Count(text, ":"); n > mostValues && countValues(text) > mostValues {
		return engine.Null, fmt.Errorf("%w: more than %d values in one element", document.ErrLimit, mostValues)
	}
	return engine.ParseJSONText(text)
}

// countValues counts the separators of values outside of strings.
func countValues(text string) int {
	n := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
		case ',', ':', '[', '{':
			n++
		}
	}
	return n
}

// stringEnd is the index of the quotation mark that ends the string which begins at i, or
// len(text).
func stringEnd(text string, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// jsonPassages makes passages of JSON: one per element of a list, which is parsed one element at a
// time, and of everything else together.
func jsonPassages(text string) iter.Seq2[passage, error] {
	return func(yield func(passage, error) bool) {
		if !strings.HasPrefix(strings.TrimLeft(text, blanks), "[") {
			v, err := parseJSON(text)
			if err != nil {
				yield(passage{}, err)
				return
			}
			passages(flat(v))(yield)
			return
		}
		for element, err := range elements(text) {
			var v engine.Value
			if err == nil {
				v, err = parseJSON(element)
			}
			if err != nil {
				yield(passage{}, err)
				return
			}
			if !cut("", flat(v), yield) {
				return
			}
		}
	}
}

// blanks are those of JSON.
const blanks = " \t\r\n"

// elements divides the text of a list at its commas.
func elements(text string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		depth, start := 0, 0
		for i := 0; i < len(text); i++ {
			switch text[i] {
			case '"':
				i = stringEnd(text, i)
				continue
			case '[', '{':
				if depth++; depth == 1 {
					start = i + 1
				}
				continue
			case ']', '}':
				depth--
			case ',':
			default:
				continue
			}
			if ends := depth == 0; ends || depth == 1 && text[i] == ',' {
				element := strings.Trim(text[start:i], blanks)
				empty := ends && element == "" && strings.Trim(text[:i], blanks) == "["
				if !empty && !yield(element, nil) {
					return
				}
				start = i + 1
				if ends {
					if text[i] != ']' || strings.Trim(text[i+1:], blanks) != "" {
						yield("", fmt.Errorf("%w: JSON continues after the list", document.ErrDamaged))
					}
					return
				}
			}
		}
		yield("", fmt.Errorf("%w: JSON ends inside of the list", document.ErrDamaged))
	}
}

// flat is a value as "path: text" lines.
func flat(v engine.Value) string {
	var b strings.Builder
	flatten(&b, "", v)
	return b.String()
}

func flatten(b *strings.Builder, place string, v engine.Value) {
	switch v.Kind() {
	case engine.KindObject:
		for k, e := range v.Fields() {
			flatten(b, clip(strings.TrimPrefix(place+"."+clip(k), ".")), e)
		}
	case engine.KindList:
		for _, e := range v.Elements() {
			flatten(b, place, e)
		}
	case engine.KindNull:
	default:
		text := strings.TrimSpace(v.Text())
		if text == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if place != "" {
			b.WriteString(place + ": ")
		}
		b.WriteString(text)
	}
}

// lines makes passages of JSON values that stand one per line.
func lines(text string) iter.Seq2[passage, error] {
	return func(yield func(passage, error) bool) {
		n := 0
		for line := range strings.SplitSeq(text, "\n") {
			if n++; strings.TrimSpace(line) == "" {
				continue
			}
			v, err := parseJSON(line)
			if err != nil {
				yield(passage{}, fmt.Errorf("line %d: %w", n, err))
				return
			}
			if !cut("", flat(v), yield) {
				return
			}
		}
	}
}
