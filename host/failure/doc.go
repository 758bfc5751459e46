// Package failure holds the tests that start easel as processes: hosts that are killed, cut off or
// overloaded while they work, and whole canvases against doubles of every service.
package failure
