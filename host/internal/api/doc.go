// Package api serves canvases over HTTP.
//
// Three faces share one implementation. The "0.23" dialect of RAGFlow's agent
// API stands at the root, the "0.27" one under /0.27, and a small API of our
// own under /api/v2 (v2.go). A handler is one function for both dialects; where
// they disagree on the same request it asks [call.newer].
//
// Beside them stand the login page (loginpage.go), plain forms without
// a script, and the host's models for pages in OpenAI's form (llm.go).
//
// A request goes through router.go (which route), call.go (who asks, and what
// with), a handler, and reply.go (envelopes). Everything that can be refused is
// refused before the first byte of a stream; what goes wrong later is told
// inside the stream, in a form that clients of that endpoint can read
// (stream.go).
//
// Rows never leave their tenant: every lookup goes to the store with the
// caller's tenant, and what belongs to another looks like what does not exist.
// What a caller may do is a list of scopes, of a key or of a member's role
// (auth.go); how often, is counted per key or login (rates.go). The tests walk
// all routes: one that is added has to say what it answers.
package api
