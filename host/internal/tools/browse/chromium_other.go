//go:build !linux

package browse

import (
	"context"
	"fmt"
)

// startChromium needs Linux, whose process groups end a browser with its call.
func startChromium(context.Context, string, Network, *Session, uploads) (opener, error) {
	return nil, fmt.Errorf("%w: a browser is run on Linux only", ErrNoBrowser)
}
