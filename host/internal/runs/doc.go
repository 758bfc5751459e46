// Package runs executes canvases so that a run outlives the process that started
// it.
//
// A [Job] describes a run. [Runs.Start] stores it in the records store,
// claims it in the run log and works on it in a separate goroutine. Readers
// follow the log with [Runs.Follow], from any record on, as often as needed. A
// reader that leaves changes nothing.
//
// The log of a run begins with the document that is run, then holds every
// entry of the engine: events, checkpoints, snapshots and results. A host that
// takes a run over (takeover.go) rebuilds the state from them and continues;
// what its predecessor had already written is not written again (fold.go). The last
// record has the outcome of the run.
//
// Order at the end: first the last records, then the result in the records
// store (session or canvas, in settle.go), then the mark that ends the log. A
// crash in between repeats only what had not been done. The session is written
// with compare-and-set; an edit of the canvas made during a run is kept, since
// only the state is put into the present document.
//
// Package schedule begins runs at set times and calls [Config].Due before each of them.
//
// Turns in one session are done one after the other: [Runs.Start] waits until
// the session is free, and then claims it in the commit that writes the run. What
// is done about every other state of session, run and log is in recover.go.
//
// The parts of Runs, a file or two each: canvases (plan.go, publish.go) reads and
// compiles documents, loader (start.go) makes the work of a job, turns lines up
// the turns of a session, executor does the work with the engine, results
// (settle.go) writes how it ended, takeovers continues runs of other hosts,
// scanner (recover.go) finds orphaned runs, and reader (record.go) reads their
// records.
//
// Durability: a job that Start has accepted, its pause or end, and the session with it are commits
// of the records store, which syncs them unless configured otherwise; they suffice to begin a run
// again. Everything between is in the run log, which survives the death of any process.
// docs/operate/durability.md lists each guarantee with its test.
package runs
