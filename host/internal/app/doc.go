// Package app has the services of a host, independent of protocols: canvases and their versions,
// sessions, runs, schedules, keys, accounts, secrets and files.
//
// Only this package uses the records store and the run manager; the faces of the API
// (host/internal/api) call a service, which checks what a caller may do and what is stored. A
// service takes the [Principal] or the tenant of a request with every call, so that rows never
// leave their tenant: a record of another tenant looks like one that does not exist.
//
// Services are safe for concurrent use. They never write HTTP, and they return refusals as values
// of [Error] and the sentinels of errors.go.
package app
