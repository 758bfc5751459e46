// Package runlog implements the run log, by which runs survive the process that executes them.
//
// A run is an append-only sequence of numbered records, whose content is defined by the engine.
// They are stored in a NATS JetStream stream, on the server of a [broker.Conn], which is embedded
// or a cluster. The owner of a run's [Lease] may append; any host may [Log.Follow] from any record
// on.
//
// Fence. Every append names the last message of the run known to its writer; the stream refuses it
// if there is a newer one. So a host that was frozen, disconnected or slow cannot overwrite the
// host that took its run over: it gets [ErrFenced] and its lease's context ends.
//
// Lease. A host that accepts a request claims the run itself ([Log.Claim]): it
// writes one note under its own name, and its heartbeat covers all its notes at
// once, so that a short run causes no lease traffic. On an embedded server, a short run that its
// claimer has stored elsewhere needs no note either (note.go). When a host has been silent for
// [Config].Lease, each remaining host queues the runs of its notes, and [Log.Work] claims them. The
// queue also holds runs without a waiting client ([Log.Submit]) and runs of schedules (package
// schedule). A run that failed [Config].Attempts times is passed to [Config].Dead instead.
//
// Reading. No reader has a consumer on the server. The stream republishes stored messages; a reader
// subscribes to those, reads history by direct gets and fills each gap in the sequences. Readers on
// the owner's own host read its memory.
//
// Buffering. [Lease.Append] returns when the stream has stored the records.
// [Lease.Buffer] is for token deltas: readers on this host see them immediately,
// the stream gets them some milliseconds later or with the next append. A host
// that dies may lose records that were buffered in that time, never records that
// were appended.
//
// Durability. A stored record survives kill -9 of any process. With [broker.Config].SyncAlways it
// survives power loss as well; without, the last two minutes may be lost, and the host writes data
// that must survive to the records store.
package runlog
