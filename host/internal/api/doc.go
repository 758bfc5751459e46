// Package api serves canvases over HTTP: routes, authentication, limits of requests, errors and
// event streams. What the routes answer are its faces, in packages of their own: the agent API of
// RAGFlow in two dialects (ragflow), our own API (v2), OpenAI's form (openai), webhooks (webhook)
// and the login page (login). faces lists them all.
//
// A request goes through serve.go, which finds its route; auth.go identifies the principal and
// body.go reads the body. The handler of the route calls a service of package app and returns a
// [Response], which reply.go or sse.go writes. Everything that can be refused is refused before the
// first byte of a stream; what fails later is reported inside the stream, in a form that clients of
// that endpoint read.
//
// What a principal may do is a list of scopes, of a key or of a member's role; how often is counted
// per key or login (rates.go). The tests call every route: one that is added needs a row that says
// what it answers.
package api
