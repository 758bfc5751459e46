package engine

// Status is the status of a run. The words are the same in Go, on the wire, in the npm package and
// on the page; RAGFlow's dialects have their own.
type Status string

// The states of a run. The last three are final; a paused run is continued by a new run.
const (
	StatusQueued    Status = "queued"
	StatusRunning   Status = "running"
	StatusPaused    Status = "paused"
	StatusSucceeded Status = "succeeded"
	StatusFailed    Status = "failed"
	StatusCanceled  Status = "canceled"
)

// Statuses lists every status with its meaning, in the order in which a run takes them.
func Statuses() []Term {
	return []Term{
		{string(StatusQueued), "accepted, waiting for a worker"},
		{string(StatusRunning), "accepted and not ended; of a node: started and not finished"},
		{string(StatusPaused), "waiting for a person to fill in a form"},
		{string(StatusSucceeded), "ended without an unhandled error"},
		{string(StatusFailed), "ended by an error that nothing handled"},
		{string(StatusCanceled), "stopped on request"},
	}
}

// Term is one word of the vocabulary that Go, HTTP, the npm package and the page share.
type Term struct {
	Word string // stable
	Doc  string // one line; it may change
}
