package runs

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// A run is in three places: the session that it holds, its row in the history
// and its run log. Each is written by itself, so a crash, a restored database or
// a run log that lost its power can leave any combination of them. The table
// recovery has the action for each.

// sessionState is the state of a run in its session.
type sessionState int

const (
	anySession  sessionState = iota
	sessionFree              // free, held by another run, deleted, or the run has none
	sessionHeld              // by this run
)

// rowState is the state of a run in the history.
type rowState int

const (
	anyRow rowState = iota
	rowMissing
	rowActive
	rowEnded
)

func rowStateOf(v store.Run) rowState {
	if v.Status == store.RunActive {
		return rowActive
	}
	return rowEnded
}

// logState is the state of a run in the run log.
type logState int

const (
	anyLog    logState = iota
	logUnread          // the caller did not look
	logEmpty           // nothing
	logBegun           // has records, and a host or the queue looks after it
	logLost            // has records, and no host looks after it
	logEnded           // has the mark of the end
)

// situation is where a run is, as far as it was looked at.
type situation struct {
	session sessionState
	row     rowState
	log     logState
}

// action is the response to a situation.
type action int

const (
	leave       action = iota // nothing; a session that is held stays so until the run ends
	freeSession               // the next turn takes the session, see [Runs.orphaned]
	queueRun                  // a host starts or continues the run, see [Runs.queue]
	endRow                    // the row gets an end, which frees the session, see [Runs.endRow]
)

// rule is the action for a set of situations.
type rule struct {
	situation
	do action
}

func (r rule) matches(s situation) bool {
	return (r.session == anySession || r.session == s.session) && (r.row == anyRow || r.row == s.row) &&
		(r.log == anyLog || r.log == s.log)
}

// recovery has one rule for each situation, as TestRecoveryIsComplete checks.
var recovery = []rule{
	// Left by versions that claimed the session before they wrote the run, by a
	// restored database, and by runs that were removed by hand.
	{situation{sessionHeld, rowMissing, anyLog}, freeSession},
	// Left by versions that wrote an end without a result and freed the session in
	// two commits.
	{situation{sessionHeld, rowEnded, anyLog}, freeSession},
	// The run of a schedule waits for its session without holding it; that a row
	// is active does not depend on the session.
	{situation{anySession, rowActive, logUnread}, leave},
	// Its host died before it claimed the run in the log, or in the first moments
	// of its work, of which an embedded log keeps no note; or the log's server lost
	// its power.
	{situation{anySession, rowActive, logEmpty}, queueRun},
	{situation{anySession, rowActive, logBegun}, leave},
	// No known fault produces it.
	{situation{anySession, rowActive, logLost}, queueRun},
	// The log dropped the run without a result, or the records are older than the log.
	{situation{anySession, rowActive, logEnded}, endRow},
	// Nothing holds a session, and what is in the log of such a run is read or
	// removed by its host and by the log's own limits. [Runs.takeOver] ends one
	// that comes out of the queue.
	{situation{sessionFree, rowMissing, anyLog}, leave},
	{situation{sessionFree, rowEnded, anyLog}, leave},
}

func decide(s situation) action {
	return recovery[slices.IndexFunc(recovery, func(r rule) bool { return r.matches(s) })].do
}

const (
	// young is the age below which a run or a claim may still be on its way: a
	// living host needs less between the commits of its start.
	young = 5 * time.Second
	// scanEvery is the interval of scans of active runs, and the time without a host after which a
	// run counts as orphaned.
	scanEvery = 30 * time.Second
)

// scanner looks for active runs that no host works on.
type scanner struct {
	store  *store.Store
	log    *runlog.Log
	logger *slog.Logger
	every  time.Duration
	opened time.Time
	early  chan struct{} // requests a scan before its time
}

func newScanner(store *store.Store, log *runlog.Log, logger *slog.Logger) *scanner {
	return &scanner{
		store: store, log: log, logger: logger, every: scanEvery, opened: time.Now(), early: make(chan struct{}, 1),
	}
}

// work scans until ctx ends.
func (sc *scanner) work(ctx context.Context) {
	var unowned map[string]time.Time // runs without a host, and since which scan
	// Without other hosts, what is from before the start has none.
	for alone := sc.log.Alone(); ; alone = false {
		scanned := time.Now()
		unowned = sc.scanRuns(ctx, alone, unowned)
		select {
		case <-ctx.Done():
			return
		case <-time.After(sc.every):
			continue
		case <-sc.early:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(scanned.Add(young))):
		}
	}
}

// scanSoon requests a scan before its time.
func (sc *scanner) scanSoon() {
	select {
	case sc.early <- struct{}{}:
	default:
	}
}

// scanRuns looks through the active runs once. before lists those that were
// without a host at the last scan; the result is the same for the next one.
func (sc *scanner) scanRuns(ctx context.Context, alone bool, before map[string]time.Time) map[string]time.Time {
	now := time.Now() // before reading: what is young is no older because reading takes long
	list, err := sc.store.Runs.Active(ctx)
	if err != nil {
		sc.logger.Warn("active runs were not read", "err", err)
	}
	held, err := sc.log.Held()
	if err != nil {
		sc.logger.Warn("runs at work were not read", "err", err)
	}
	unowned := map[string]time.Time{}
	for _, row := range list {
		if err == nil && !held[row.ID] {
			unowned[row.ID] = now
			if since, again := before[row.ID]; again {
				unowned[row.ID] = since
			}
		}
		since, is := unowned[row.ID]
		switch created := time.UnixMilli(row.CreateTime); {
		case alone && created.Before(sc.opened):
			// The log queues these by itself; a duplicate entry would split their failure
			// count.
			sc.recoverRun(ctx, row, is && !sc.log.Left()[row.ID])
		case now.Sub(created) > young:
			sc.recoverRun(ctx, row, is && now.Sub(since) >= sc.every)
		}
	}
	return unowned
}

// recoverRun applies recovery to an active run. unowned means that no
// host looks after it, if the log has begun it.
func (sc *scanner) recoverRun(ctx context.Context, row store.Run, unowned bool) {
	if slices.Contains(sc.log.Active(), row.ID) {
		return // this host works on it
	}
	pos, ended, err := sc.log.Ended(ctx, row.ID)
	if err != nil {
		return // the log does not answer; the next scan comes
	}
	s := situation{anySession, rowActive, logBegun}
	switch {
	case ended:
		s.log = logEnded
	case pos.At == 0:
		s.log = logEmpty
	case unowned:
		s.log = logLost
	}
	switch decide(s) {
	case queueRun:
		sc.queue(ctx, row)
	case endRow:
		sc.endRow(ctx, row)
	}
}

// queue puts a run into the queue of the log, for whichever host is free.
func (sc *scanner) queue(ctx context.Context, row store.Run) {
	// A host may have begun it and shown what the log's server then lost with its power.
	if err := sc.log.Submit(ctx, runlog.Run{ID: row.ID, Data: row.Input, Attempt: 2}); err != nil {
		sc.logger.Warn("run was not queued again", "run", row.ID, "err", err)
	}
}

// endRow marks a run as failed whose log has ended without a result.
func (sc *scanner) endRow(ctx context.Context, row store.Run) {
	end := store.RunEnd{
		ID: row.ID, Tenant: row.Tenant, Session: row.Session, Status: store.RunFailed,
		Error: "the run log ended without a result",
	}
	if _, err := sc.store.Runs.End(ctx, end, nil); err != nil {
		sc.logger.Warn("run was not ended", "run", row.ID, "err", err)
	}
}
