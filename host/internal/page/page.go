package page

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed all:dist
var built embed.FS

// missing is the response to / if the binary was built without the page.
const missing = "the page is not built in: make page\n"

// Handler serves the page and passes all other requests to next.
func Handler(next http.Handler) http.Handler {
	dist, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	return handler(newSite(dist), next)
}

func handler(s *site, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !owns(r.URL.Path) || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		s.serve(w, r, strings.TrimPrefix(r.URL.Path, "/"))
	})
}

// owns reports whether a path belongs to the page.
func owns(path string) bool {
	switch path {
	case "/", "/index.html", "/icon.svg", "/licences.txt":
		return true
	}
	return strings.HasPrefix(path, "/assets/")
}
