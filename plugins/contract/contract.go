// Package contract contains the Go types of the plugin contract: manifest, schema, permissions,
// limits, messages, emissions and errors. It is specified by contract.md, JSON Schemas and golden
// messages in this folder.
//
// The server (host/internal/plugin), the engine's module for browsers (wasm) and the command line
// read and write the contract only through this package, so that a plugin is accepted, checked and
// refused in the same way everywhere. SDKs run inside guests and have their own types, which are
// tested with the same golden messages.
//
// JSON is represented by engine.Value: keys are case-sensitive and keep their order, and numbers
// keep their digits. The package imports the engine and the standard library only, without
// reflection, because it is part of the browser module. Its values are immutable once read and safe
// for concurrent use.
package contract

// ABI is the version of the contract that this package implements.
const ABI = 1
