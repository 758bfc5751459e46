// Command easel.wasm is the engine as one WebAssembly module. The same source is built twice: for
// GOOS=js, for browsers and Node, and for GOOS=wasip1 with -buildmode=c-shared, for any WASI host.
//
// js/PROTOCOL.md is the contract with the host: six exports, three imports, and JSON. abi.go only
// moves bytes across that border. bridge.go starts a goroutine for every message, so no export ever
// blocks; request.go serves requests about canvases, run.go executes one run and sends its events
// through outbox.go. All access to the outside (models, searches, requests, files, scripts,
// plugins) is one kind of call to the host, made in call.go; the files port*.go adapt it to the
// engine's ports.
//
// Of the bridge only the two mains and abi.go need WebAssembly: the rest is tested natively against
// the messages of js/golden, as is the JavaScript side.
//
// Concurrency: each request and each run has a goroutine; bridge.mu guards the tables of canvases,
// runs and open calls. A canvas is changed or run by one of them at a time; other calls
// fail with busy.
package main
