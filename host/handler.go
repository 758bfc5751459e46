package host

import "net/http"

// Handler answers all requests.
func (h *Host) Handler() http.Handler { return h.api.Handler() }
