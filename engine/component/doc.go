// Package component holds the built-in components of canvases, one per file: Begin, Message, LLM,
// Agent, Switch, Iteration and so on. Searches that differ mainly in the service share a file by
// topic (websearch.go, library.go, finance.go), and so do retired components and the steps of
// pipelines.
//
// A component is a struct whose exported fields are its params. Their tags have docs, defaults and
// limits, from which load checks, forms, JSON Schema and the docs page are derived. Its Spec has
// the name in documents, the inputs and outputs, and the role in a run. Run performs one execution
// through an engine.Call and keeps no state: the same value serves concurrent runs of a canvas.
//
// Further abilities are small optional interfaces of package engine, the same for third-party
// components:
//
//   - Switch and Categorize choose what runs next (engine.Brancher).
//   - Iteration and Loop hold a body (engine.Container), which IterationItem and LoopItem open turn
//     by turn
//     (engine.Item) and an ExitLoop may leave (engine.Exit).
//   - UserFillUp waits for a person (engine.Form), Message sends text to the user (engine.Speaker),
//     LLM and Agent
//     write piece by
//     piece (engine.Streamer).
//
// Components have no access to the loop, the events or other components. Models, files and searches
// are ports of the run. Some components have only a name and params here; a host with the Tools
// port runs them (External).
//
// The steps of ingestion pipelines, from File to Tokenizer, read the output of the previous node
// (engine.Call.Previous): a document as text or a list of blocks, then chunks.
//
// Builtin returns all of them, for a registry with the whole list or a part of it:
//
//	registry, err := engine.NewRegistry(component.Builtin()...)
package component
