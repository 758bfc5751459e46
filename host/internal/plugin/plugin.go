// Package plugin runs third-party components and tools as WebAssembly guests.
//
// A [Host] owns one wazero runtime with a compilation cache on disk. [Host.Load] takes the bytes of
// a stranger through signature, manifest, grant, imports and metering to a compiled [Module];
// [Module.Call] runs one export with bytes in and bytes out, [Module.Invoke] runs a component with
// the messages of plugins/contract and checks its outputs. A [Catalog] keeps installed plugins with
// their approvals.
//
// A guest reaches the world through three import modules: easel:host/v1 (bulk copies),
// extism:host/env (so that any Extism PDK works) and a WASI without files, environment or sockets.
// Its requests to the host go through one import, call, and are checked against the grant: the
// permissions of the manifest, cut to those that the operator and the tenant allow. Secrets never
// enter its memory: it writes placeholders, of which those with the mark of the call count.
//
// A guest can be stopped at any moment: plugins/meter makes it call the host
// every 10,000 units of work, where deadline, cancellation and fuel are looked
// at. Memory, tables, the depth of recursion, output, logs, emits and host calls
// are capped, and so is the number of guests that run at once. After a fault an
// instance is thrown away; it never serves another call.
//
// The package logs to the given slog.Logger, never inputs, outputs or secrets.
package plugin
