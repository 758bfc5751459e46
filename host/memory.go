package host

import "github.com/easel-canvas/easel/host/internal/memlimit"

// budgets are the shares of the host's memory for work whose size strangers choose. The collector lets the heap grow
// to about twice of what is live, and the run log and the database need their part: together the shares stay well
// below half of the limit.
type budgets struct {
	limit     int64            // of the process
	requests  *memlimit.Budget // bodies and what is decoded from them, until the response is sent
	documents *memlimit.Budget // uploads while their text is read
	runs      *memlimit.Budget // state of runs at work
}

// newBudgets shares limit bytes out; 0 means the limit of the process.
func newBudgets(limit int64) budgets {
	if limit <= 0 {
		limit = memlimit.Process()
	}
	return budgets{
		limit:     limit,
		requests:  memlimit.New("requests", limit/16),
		documents: memlimit.New("documents", limit/8),
		runs:      memlimit.New("runs", limit/8),
	}
}
