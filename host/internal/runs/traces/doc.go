// Package traces keeps runs after their log is deleted.
//
// A trace consists of JSON lines: a header, the first snapshot and the events of the run log,
// without the records that only let a host continue (format.go). Traces of a canvas are packed
// together in blocks, compressed and sealed with a key of their tenant (block.go). [Bytes] stores
// blocks: files, or a table of the database; the records have the index and the documents that ran.
//
// Writing. A run that has ended is handed over by reference with [Traces.Take], which never blocks
// it; one goroutine builds blocks. The run log is their write-ahead log: it is not deleted while
// [Traces.Hold] wants it, and ended runs that no block lists are read from it at the start of a
// host and later (traces.go). So a host that is killed loses no trace.
//
// Retention. Whole days are deleted, by age and by the bytes of a tenant (retain.go).
//
// Reading. [Traces.Records] returns the events of a run as the log had them.
package traces
