package enginetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// differences collects mismatches.
type differences []string

func (d *differences) add(format string, args ...any) { *d = append(*d, fmt.Sprintf(format, args...)) }

// shortLength is the number of bytes of a value that a difference shows.
const shortLength = 160

func short(v engine.Value) string {
	s := v.Str()
	if v.Kind() != engine.KindString {
		s = string(v.AppendText(nil))
	}
	return shorten(s)
}

func shorten(s string) string {
	if len(s) <= shortLength {
		return s
	}
	return strings.ToValidUTF8(s[:shortLength], "") + "..."
}

// matcherKeys are the members an object may have to be a matcher.
var matcherKeys = []string{"$ignore", "$present", "$contains", "$starts", "$lacks", "$json"}

func isMatcher(v engine.Value) bool {
	if v.Kind() != engine.KindObject || v.Len() == 0 {
		return false
	}
	for k := range v.Fields() {
		if !slices.Contains(matcherKeys, k) {
			return false
		}
	}
	return true
}

func ignored(v engine.Value) bool { return v.Get("$ignore").True() }

// match compares a value with a matcher. Words are found without regard to case.
func (d *differences) match(m, seen engine.Value, where string) {
	if m.Get("$ignore").Truthy() {
		return
	}
	text := seen.Text()
	lower := strings.ToLower(text)
	if m.Get("$present").Truthy() && text == "" {
		d.add("%s: expected something, saw nothing", where)
	}
	for _, w := range m.Get("$contains").Elements() {
		if !strings.Contains(lower, strings.ToLower(w.Text())) {
			d.add("%s: expected to contain %q, saw %s", where, w.Text(), shorten(text))
		}
	}
	for _, w := range m.Get("$lacks").Elements() {
		if strings.Contains(lower, strings.ToLower(w.Text())) {
			d.add("%s: expected not to contain %q, saw %s", where, w.Text(), shorten(text))
		}
	}
	if start, ok := m.Lookup("$starts"); ok && !strings.HasPrefix(text, start.Text()) {
		d.add("%s: expected to start with %q, saw %s", where, start.Text(), shorten(text))
	}
	if inner, ok := m.Lookup("$json"); ok {
		d.matchJSON(inner, seen, where)
	}
}

func (d *differences) matchJSON(want, seen engine.Value, where string) {
	if seen.Kind() == engine.KindString {
		parsed, err := engine.ParseJSONText(seen.Str())
		if err != nil {
			d.add("%s: expected a text holding JSON, saw %s", where, shorten(seen.Str()))
			return
		}
		seen = parsed
	}
	d.value(want, seen, where)
}

// value compares a value with an expectation, which may contain matchers.
func (d *differences) value(want, seen engine.Value, where string) {
	switch {
	case isMatcher(want):
		d.match(want, seen, where)
	case want.Kind() == engine.KindObject:
		d.object(want, seen, where)
	case want.Kind() == engine.KindList:
		if seen.Kind() != engine.KindList || want.Len() != seen.Len() {
			d.add("%s: expected %s, saw %s", where, short(want), short(seen))
			return
		}
		for i, w := range want.Elements() {
			d.value(w, seen.At(i), fmt.Sprintf("%s[%d]", where, i))
		}
	case !engine.Equal(want, seen):
		d.add("%s: expected %s, saw %s", where, short(want), short(seen))
	}
}

// object compares members: null and absent are equal, and members that start with _ are ignored
// unless expected.
func (d *differences) object(want, seen engine.Value, where string) {
	if seen.IsNull() && want.Len() == 0 {
		return
	}
	if seen.Kind() != engine.KindObject {
		d.add("%s: expected %s, saw %s", where, short(want), short(seen))
		return
	}
	for k, w := range want.Fields() {
		d.value(w, seen.Get(k), where+"."+k)
	}
	for k, s := range seen.Fields() {
		if _, expected := want.Lookup(k); !expected && !strings.HasPrefix(k, "_") && !s.IsNull() {
			d.value(engine.Null, s, where+"."+k)
		}
	}
}

// freeOutputs are outputs by component that may be there without being expected.
var freeOutputs = map[string][]string{
	"Invoke":        {"status", "status_code", "headers"},
	"IterationItem": {"result"},
	"Retrieval":     {"content"},
}

// outputs compares the outputs of a component of the given kind.
func (d *differences) outputs(want, seen engine.Value, kind, where string) {
	if isMatcher(want) {
		d.match(want, seen, where)
		return
	}
	if want.Kind() == engine.KindString || seen.Kind() == engine.KindString {
		d.value(want, seen, where)
		return
	}
	if want.IsNull() {
		want = engine.Object()
	}
	for _, name := range freeOutputs[kind] {
		if _, expected := want.Lookup(name); !expected {
			seen = seen.Without(name)
		}
	}
	if seen.IsNull() {
		seen = engine.Object()
	}
	d.value(want, seen, where)
}

// failure compares an error: if none is expected there must be none, else only the words named
// count.
func (d *differences) failure(want, seen engine.Value, where string) {
	switch {
	case ignored(want):
	case !want.Truthy():
		if seen.Truthy() {
			d.add("%s: expected no error, saw %s", where, short(seen))
		}
	case !seen.Truthy():
		d.add("%s: expected an error, saw none", where)
	default:
		d.match(want, seen, where)
	}
}
