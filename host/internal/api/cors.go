package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// cors answers which foreign pages may read answers. They never get cookies
// along: those are for pages of this host, so a foreign one needs a key.
type cors struct {
	any  bool
	list []string
}

// newCORS reads the configured origins: none of them means any page, the word
// "none" alone means no page.
func newCORS(origins []string) cors {
	if len(origins) == 0 || slices.Contains(origins, "*") {
		return cors{any: true}
	}
	return cors{list: origins}
}

// permits reports whether the pages of an origin may call the API.
func (o cors) permits(origin string) bool { return o.any || slices.Contains(o.list, origin) }

// CheckOrigins refuses a text that is neither "*", "none", nor a scheme with a
// host: one that no browser sends would silently allow nothing.
func CheckOrigins(list []string) error {
	for _, text := range list {
		if text == "*" || text == "none" {
			continue
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || text != u.Scheme+"://"+u.Host {
			return fmt.Errorf("origin %q: expected a scheme and a host, such as https://example.org", text)
		}
	}
	return nil
}

func (o cors) set(w http.ResponseWriter, r *http.Request) {
	h, origin := w.Header(), r.Header.Get("Origin")
	switch {
	case o.any:
		h.Set("Access-Control-Allow-Origin", "*")
	default:
		h.Add("Vary", "Origin")
		if !o.permits(origin) {
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
	}
	const exposed = "Authorization, Content-Disposition, Retry-After, " + RunHeader + ", " + SessionHeader
	h.Set("Access-Control-Expose-Headers", exposed)
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS")
		allowed := r.Header.Get("Access-Control-Request-Headers")
		if allowed == "" {
			allowed = "Authorization, Content-Type, Last-Event-ID"
		}
		// Clients in pages send custom headers, as OpenAI's does; "*" would leave out
		// Authorization.
		h.Add("Vary", "Access-Control-Request-Headers")
		h.Set("Access-Control-Allow-Headers", allowed)
		h.Set("Access-Control-Max-Age", "600")
	}
}
