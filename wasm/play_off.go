//go:build !conformance && !fixture

package main

import "github.com/easel-canvas/easel/engine"

// extra are components that a build for tests adds.
var extra []engine.Spec
