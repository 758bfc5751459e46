// Package page serves the web page that is embedded in the binary.
//
// `make page` writes the files of the page to the directory dist, each compressed with Brotli and
// with gzip. For a client that accepts neither, the gzip form is decompressed. A binary built
// without that step works, and responds to / with instructions.
//
// The page uses the path /, the directory /assets, an icon and the licences; the chats of agents
// use /agent/chat and RAGFlow's /agent/share and /chats/widget, and /widget.js, which sites
// include. All other requests are passed to the next handler, so the page can never shadow an API
// route.
package page
