package host

import (
	"net/http"

	"github.com/easel-canvas/easel/host/internal/page"
)

// Handler serves all requests: the preview page at /, chats for visitors, the API everywhere else.
func (h *Host) Handler() http.Handler {
	return h.spans.Handler(page.Handler(h.api.Handler(), h.cfg.CORS...))
}
