// Package app is what a host does for its callers, whatever protocol they speak: canvases and their
// versions, sessions, runs, schedules, keys, accounts, secrets and files.
//
// It alone knows the records store and the run manager; the faces of the API (host/internal/api)
// call a service, which checks what a caller may do and what is stored. A service takes the
// [Principal] or the tenant of a request with every call, so that rows never leave their tenant:
// what belongs to another tenant looks like what does not exist.
//
// Services are safe for concurrent use. They never write HTTP, and they return refusals as values
// of [Error] and the sentinels of errors.go.
package app
