// Command easel.wasm is the engine as one WebAssembly module. The same source is built twice: for
// GOOS=js, which browsers and Node run, and for GOOS=wasip1 with -buildmode=c-shared, which any
// WASI host runs.
//
// js/PROTOCOL.md is the contract with the host: six exports, three imports, and JSON. abi.go moves
// bytes across that border and nothing else. bridge.go gives every message to a goroutine of its
// own, so no export ever blocks; request.go answers questions about canvases, run.go plays one run
// and hands out its events through outbox.go. Everything outside the engine (models, searches,
// requests, files, scripts, plugins) is one kind of question to the host, asked and awaited in
// call.go; the files port*.go dress it as the engine's ports.
//
// Of the bridge only the two mains and abi.go need WebAssembly: the rest is tested natively,
// against the messages of js/golden, which the JavaScript end is tested against too.
//
// Concurrency: each request and each run has a goroutine; bridge.mu guards the tables of canvases,
// runs and open calls. A canvas is changed or run by one of them at a time; other calls
// fail with busy.
package main
