// Package page serves the preview page that is built into the program.
//
// `make page` puts the page's files into the folder dist, compressed twice: as Brotli and as gzip.
// A client that accepts neither gets the gzip form unpacked. A program built without that step
// works, and says at / what is missing.
//
// The page has the path /, the folder /assets, its icon and its licences; every other request is
// passed to the next handler, so that a route of the API can never be hidden.
package page
