// Package runner makes runs outlive the process that runs them.
//
// A run is an append-only sequence of numbered records; what is in them is
// for the engine. The records live in a NATS JetStream stream, in a server
// inside this process ([Config].Dir) or in a cluster ([Config].URLs), through
// the same code. Whoever holds a run's [Lease] may append; everybody may
// [Log.Follow] from any record on, on any host.
//
// Fence. Every append names the last message that its writer knows of this
// run; the stream refuses it when there is a newer one. So a host that was
// frozen, cut off or slow cannot write over the host that took its run:
// it gets [ErrFenced] and its lease's context ends.
//
// Lease. A host that accepts a request claims the run itself ([Log.Claim]):
// it leaves one note under its own name, and its heartbeat covers all its
// notes at once, so that a short run costs no lease traffic of its own. On a
// server that only this host uses, a short run that its claimer keeps elsewhere
// leaves no note either (note.go). When a
// host has been silent for [Config].Lease, each survivor puts the runs of its
// notes into the queue, where [Log.Work] claims them. The queue also takes runs
// that nobody waits for ([Log.Submit]) and schedules ([Log.Schedule]).
// A run that broke off [Config].Attempts times is given to [Config].Dead
// instead.
//
// Reading. No reader has a consumer on the server. The stream republishes what
// it has stored; a reader subscribes to that, reads history by direct gets and
// fills each gap that the stream's numbers show. Readers on the owner's own
// host read its memory.
//
// Bundles. [Lease.Append] returns when the stream has stored the records.
// [Lease.Tell] is for token deltas: readers on this host see them at once, the
// stream gets them some milliseconds later or with the next append. A host that
// dies may lose what was told in that time, never what was appended.
//
// Durability. A stored record survives kill -9 of any process. With SyncAlways
// it survives power loss as well; without, the last two minutes may not, and
// what must be certain is written to the records store by the host.
//
// The other buckets of the same server: keys with a time to live (cancel marks,
// trace logs), files and schedules.
package runner
