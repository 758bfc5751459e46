// Package sdkrust carries the Rust SDK, so that a new plugin gets a copy of it and builds offline.
// The SDK itself is easel.rs.
package sdkrust

import _ "embed"

// File is easel.rs.
//
//go:embed easel.rs
var File []byte
