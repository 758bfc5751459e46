// Package engine runs agent canvases: JSON documents that place components in a graph, with the
// state of a conversation. It is a pure state machine. A Canvas is the compiled document, a State
// is its mutable part, and Run turns both and an input into a stream of events. Everything outside
// (a model, a clock, a search, a file) is reached through a port, so the engine produces the same
// events on a server, in a browser tab and in a test.
//
// The files follow the life of a run. load.go, canvas.go and params.go compile a document; graph.go
// computes the reachability between nodes once. run.go owns a run: batch.go executes the nodes that
// can run now, settle.go takes their results in order and decides what follows, wait.go delays
// readers of pending outputs, body.go opens and closes iterations and loops, speak.go sends
// messages, pause.go pauses at forms. emit.go writes the events, log.go the entries of a log, from
// which takeover.go continues the run elsewhere.
//
// A component (component.go) is one step; it reads the state through a Call (call.go) and records
// effects there, which are applied when its batch is settled. The built-in ones are in
// engine/component and use the exported API only.
//
// The engine never logs, never reads the environment, and reaches time, randomness and everything
// else through ports only; platform.go is the one exception, for callers that set no clock and no
// ids.
package engine
