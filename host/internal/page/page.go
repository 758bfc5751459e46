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

// Built reports whether the page is part of the program.
func Built() bool {
	for _, name := range []string{"dist/index.html.br", "dist/index.html.gz"} {
		if _, err := fs.Stat(built, name); err == nil {
			return true
		}
	}
	return false
}

// Handler serves the page and passes all other requests to next. The pages of origins may show the
// chat page in a frame: none means any page, the word "none" alone means no page but the host's.
func Handler(next http.Handler, origins ...string) http.Handler {
	dist, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	s := newSite(dist)
	s.embedders = embedders(origins)
	return handler(s, next)
}

func handler(s *site, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !owns(r.URL.Path) || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		s.serve(w, r, fileOf(r.URL.Path))
	})
}

// fileOf returns the file for a path of the page.
func fileOf(path string) string {
	switch path {
	case "/":
		return "index.html"
	case "/agent/chat", "/agent/share", "/chats/widget":
		return shareFile
	}
	return strings.TrimPrefix(path, "/")
}

// owns reports whether a path belongs to the page.
func owns(path string) bool {
	switch path {
	case "/", "/index.html", "/icon.svg", "/licences.txt", "/widget.js",
		"/agent/chat", "/agent/share", "/chats/widget":
		return true
	}
	return strings.HasPrefix(path, "/assets/")
}
