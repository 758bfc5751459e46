package quota

import (
	"errors"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// ErrUsedUp means that no tokens are left for today; wait for the next day or
// raise the quota. The error itself is a [*UsedUp].
var ErrUsedUp = errors.New("quota of tokens is used up")

// UsedUp says whose quota is used up and until when.
type UsedUp struct {
	Tenant bool // that of the tenant, not of the caller alone
	Quota  int64
	Until  time.Time     // the next day, UTC
	After  time.Duration // until then
}

func (e *UsedUp) Error() string {
	whose := "caller"
	if e.Tenant {
		whose = "tenant"
	}
	return fmt.Sprintf("the %s's quota of %d tokens for today is used up; it begins anew at %s", whose, e.Quota, e.Until.Format(time.RFC3339))
}

// Unwrap gives [ErrUsedUp] and [engine.ErrNoRetry].
func (e *UsedUp) Unwrap() []error { return []error{ErrUsedUp, engine.ErrNoRetry} }
