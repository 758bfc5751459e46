// Package sdkas carries the AssemblyScript SDK, so that a new plugin gets a copy of it and builds
// offline. The SDK itself is in assembly/.
package sdkas

import "embed"

// Files are the sources, below assembly/.
//
//go:embed assembly/*.ts
var Files embed.FS
