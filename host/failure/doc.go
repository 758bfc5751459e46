// Package failure holds the tests that end, cut off or overload hosts while they work.
package failure
