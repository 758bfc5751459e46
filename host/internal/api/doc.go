// Package api serves canvases over HTTP: routes, authentication, limits of requests, errors and
// event streams. Its faces are separate packages: the agent API of RAGFlow in three dialects
// (ragflow), our own API (v2), OpenAI's form (openai), webhooks (webhook) and the login page
// (login). faces lists them all.
//
// A request goes through serve.go, which finds its route; auth.go identifies the principal and
// body.go reads the body. The handler of the route calls a service of package app and returns a
// [Response], which reply.go or sse.go writes. Everything that can be refused is refused before the
// first byte of a stream; what fails later is reported inside the stream, in a form that clients of
// that endpoint read.
//
// Scopes, of a key or of a member's role, limit what a principal may do; rates limit how often, per
// key or login (rates.go). The tests call every route: a new one needs a row with its responses.
package api
