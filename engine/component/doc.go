// Package component holds the built-in components of canvases, one per file: Begin, Message, LLM,
// Agent, Switch, Iteration and so on. Searches that differ in little but the service share a file
// by what they are for (websearch.go, library.go, finance.go), and so do retired components and the
// steps of pipelines.
//
// A component is a struct whose exported fields are its params. Their tags say what they mean,
// which defaults and limits they have; load checks, forms, JSON Schema and the docs page are made
// of them. Beside it stands a Spec: the name in documents, what it reads and writes, and how the
// run treats it. Run does the work of one execution through an engine.Call and keeps nothing: the
// same value serves every run of a canvas at once.
//
// What a component can do beyond Run it says by small interfaces of package engine, as a stranger's
// would:
//
//   - Switch and Categorize choose what runs next (engine.Brancher).
//   - Iteration and Loop hold a body (engine.Container), which IterationItem and LoopItem open turn by turn
//     (engine.Item) and an ExitLoop may leave (engine.Exit).
//   - UserFillUp waits for a person (engine.Form), Message speaks (engine.Speaker), LLM and Agent write piece by
//     piece (engine.Streamer).
//
// Nothing here sees the loop, the events or another component's insides. What the world has to
// give, such as a model, a file or a search, comes through the ports of the run. Some components
// are known by name and params only; a host that offers the Tools port runs them (External).
//
// The steps of ingestion pipelines, from File to Tokenizer, read what the node before gives
// (engine.Call.Previous): a document as text or a list of blocks, then chunks.
//
// Builtin lists them all. A registry is made of that list, or of a part of it:
//
//	registry, err := engine.NewRegistry(component.Builtin()...)
package component
