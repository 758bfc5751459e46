//go:build !linux

package mcp

import (
	"os"
	"os/exec"
)

// isolate does nothing on systems without the process groups of Linux.
func isolate(*exec.Cmd) {}

// limitMemory does nothing on systems that cannot limit another process.
func limitMemory(int, int64) {}

// killAll kills the process of a server. Processes that it started see the end of their input.
func killAll(pid int, _ string) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill() // fails if it exited
	}
}

// usage is not available on these systems.
func usage(int) (bytes int64, count int) { return 0, 0 }
