package api

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine/nearest"
)

// checkQuery refuses query parameters that a route of our own API does not read: a misspelt filter
// would select everything. The dialects ignore them, as the original does.
func checkQuery(d *v2Doc, query url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if slices.Contains(d.query, name) {
			continue
		}
		text := fmt.Sprintf("unknown query parameter %.40q", name)
		if len(d.query) == 0 {
			return &status{http.StatusBadRequest, "bad_argument", text + ": there are none here"}
		}
		text += " (one of " + strings.Join(d.query, ", ") + ")"
		if known, ok := nearest.Match(name, d.query); ok {
			text += fmt.Sprintf("; did you mean %s?", known)
		}
		return &status{http.StatusBadRequest, "bad_argument", text}
	}
	return nil
}
