package plugin

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"slices"
)

// hidden are the secret values one request carried, and every form of them that has to be masked in what comes back.
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
	for _, form := range forms(value) {
		if !slices.ContainsFunc(h.forms, func(f []byte) bool { return string(f) == form }) {
			h.forms = append(h.forms, []byte(form))
		}
	}
	slices.SortStableFunc(h.forms, func(a, b []byte) int { return len(b) - len(a) })
}

// forms are the ways a value may come back: as it is, escaped for URLs and JSON, and in base64, alone or inside of
// something longer.
func forms(value string) []string {
	out := []string{value, url.QueryEscape(value), url.PathEscape(value), jsonEscape(value)}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		out = append(out, e.EncodeToString([]byte(value)), e.WithPadding(base64.NoPadding).EncodeToString([]byte(value)))
		for before := range 3 {
			if inner := within64(e, value, before); len(inner) >= shortest64 {
				out = append(out, inner)
			}
		}
	}
	return out
}

// shortest64 is how much base64 must be known to be masked inside of something longer; less would be found by chance.
const shortest64 = 6

// within64 is the part of base64 that depends on value alone, when value stands behind some bytes, counted modulo 3,
// and before others.
func within64(e *base64.Encoding, value string, before int) string {
	all := e.WithPadding(base64.NoPadding).EncodeToString(append(make([]byte, before), value...))
	from := (before*8 + 5) / 6
	to := (before + len(value)) * 8 / 6
	return all[from:max(from, to)]
}

// longest is the length of the longest form, at least 1.
func (h *hidden) longest() int {
	if len(h.forms) == 0 {
		return 1
	}
	return max(1, len(h.forms[0]))
}

// mask puts *** where a secret stands. It may change b.
func (h *hidden) mask(b []byte) []byte {
	for _, form := range h.forms {
		b = bytes.ReplaceAll(b, form, []byte(masked))
	}
	return b
}
