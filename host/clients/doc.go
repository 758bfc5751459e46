// Package clients holds no code of the host: it tests the built program
// against clients and servers that others have written.
//
// The clients are openai, the AI SDK, LangChain, eventsource and
// eventsource-parser from npm, OpenAI's client for Go in a module of its own
// (openaigo), and one of ours that makes the calls of the original's Python SDK
// and fails where that SDK fails.
// The server is the reference server of the Model Context Protocol. What comes
// from npm is pinned in package-lock.json and installed when it is missing;
// without Node those tests are skipped.
package clients
