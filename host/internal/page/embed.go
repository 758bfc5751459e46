package page

import (
	"slices"
	"strings"
)

// Files for visitors of agents: the page of a chat, and the script that sites include.
const (
	shareFile  = "share.html"
	widgetFile = "widget.js"
)

// sharePolicy applies to the chat page: it requests from this host only, and its script constructs
// its styles.
const sharePolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'"

// embedders returns the sources of frame-ancestors for origins that may call the API: a page that
// may not do that has no use for a chat either.
func embedders(origins []string) string {
	if len(origins) == 0 || slices.Contains(origins, "*") {
		return "*"
	}
	sources := []string{"'self'"}
	for _, origin := range origins {
		if origin != "none" {
			sources = append(sources, origin)
		}
	}
	return strings.Join(sources, " ")
}
