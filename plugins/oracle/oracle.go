// Package oracle holds the host against the official Extism host: the same plugins give the same
// answers, and the benchmarks tell how the two compare, as ratios of one run. It is a module of its
// own, outside go.work, so that the shipped go.mod does not carry what the official host needs.
package oracle
