package v2

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/host/internal/app"
)

// cursorOf names the row at which a page ends, for the request of the next page. It holds the order
// of the list: in another one it would name no place.
func cursorOf(p app.Page, at app.Position) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s %d %s", orderOf(p), at.Value, at.ID))
}

func orderOf(p app.Page) string {
	if p.Asc {
		return p.Order + " asc"
	}
	return p.Order + " desc"
}

// readCursor takes the query parameter after into a page.
func readCursor(text string, p *app.Page) error {
	if text == "" {
		return nil
	}
	refused := app.BadArgument("argument after must be the next of a page of this list, with the same orderby and desc, "+
		"not %.80q", text)
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return refused
	}
	rest, ok := strings.CutPrefix(string(raw), orderOf(*p)+" ")
	value, id, more := strings.Cut(rest, " ")
	n, err := strconv.ParseInt(value, 10, 64)
	if !ok || !more || err != nil {
		return refused
	}
	p.After = &app.Position{Value: n, ID: id}
	return nil
}
