package quota

import (
	"errors"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// ErrUsedUp means that no tokens are left for today; wait for the next day or raise the quota. The
// error is a [*UsedUp].
var ErrUsedUp = errors.New("quota of tokens is used up")

// UsedUp reports which quota is used up and when it resets.
type UsedUp struct {
	Tenant bool // the quota of the tenant, not of the caller
	Quota  int64
	Until  time.Time     // start of the next day, UTC
	After  time.Duration // time left until then
}

func (e *UsedUp) Error() string {
	whose := "caller"
	if e.Tenant {
		whose = "tenant"
	}
	return fmt.Sprintf("the %s's quota of %d tokens for today is used up; it is renewed at %s", whose, e.Quota,
		e.Until.Format(time.RFC3339))
}

// Unwrap returns [ErrUsedUp] and [engine.ErrNoRetry].
func (e *UsedUp) Unwrap() []error { return []error{ErrUsedUp, engine.ErrNoRetry} }
