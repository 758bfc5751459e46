// Package oracle compares the host with the official Extism host: the same plugins return the same
// results, and the benchmarks report ratios of both in one run. It is a separate module, outside
// go.work, so that the shipped go.mod does not have the dependencies of the official host.
package oracle
