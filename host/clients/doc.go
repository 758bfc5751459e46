// Package clients tests the built program against third-party clients and servers. It contains no
// code of the host.
//
// The clients are openai, the AI SDK, LangChain, eventsource and eventsource-parser from npm,
// OpenAI's client for Go in a separate module (openaigo), and one of ours that makes the calls of
// RAGFlow's Python SDK and fails where that SDK fails. With the tag soak, the vendors' clients of
// model APIs (vendorsdk) read the requests of the host. The server is the reference server of the
// Model Context Protocol. People sign in at npm's oidc-provider and at the example provider of
// zitadel/oidc, in a separate module (zitadel). The npm packages are pinned in
// package-lock.json and installed on demand;
// without Node those tests are skipped.
package clients
