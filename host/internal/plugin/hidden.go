package plugin

import (
	"bytes"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// hidden are the secret values one request carried, and every form of them that has to be masked in
// the response.
type hidden struct {
	values []string
	forms  [][]byte // longest first, so that none is masked in part
}

// add hides one more value.
func (h *hidden) add(value string) {
	if value == "" || slices.Contains(h.values, value) {
		return
	}
	h.values = append(h.values, value)
	for _, form := range engine.SecretForms(value) {
		if !slices.ContainsFunc(h.forms, func(f []byte) bool { return string(f) == form }) {
			h.forms = append(h.forms, []byte(form))
		}
	}
	slices.SortStableFunc(h.forms, func(a, b []byte) int { return len(b) - len(a) })
}

// longest returns the length of the longest form, at least 1.
func (h *hidden) longest() int {
	if len(h.forms) == 0 {
		return 1
	}
	return max(1, len(h.forms[0]))
}

// mask replaces secrets by ***. It may change b.
func (h *hidden) mask(b []byte) []byte {
	for _, form := range h.forms {
		b = bytes.ReplaceAll(b, form, []byte(masked))
	}
	return b
}
