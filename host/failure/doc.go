// Package failure contains the tests that start easel as processes: hosts that are killed,
// disconnected or overloaded while they work, and whole canvases against doubles of every service.
package failure
