package main

import "fmt"

// pluginBounds are the bounds for plugins. The baseline is the official Extism host with a timeout
// set, as it is used in practice; both run alternately, and the best round of each counts.
var pluginBounds = []bound{
	{of: "BenchmarkAgainstOfficial/echo-1KB", metric: "x-faster", least: 30},
	{of: "BenchmarkAgainstOfficial/echo-1MB", metric: "x-faster", least: 100},
	{of: "BenchmarkAgainstOfficial/invoke-1KB", metric: "x-faster", least: 5.5},
	{of: "BenchmarkAgainstOfficial/compute", metric: "x-faster"},
	{of: "BenchmarkSameModule/echo-1KB", metric: "x-faster", least: 1},
	{of: "BenchmarkSameModule/echo-1MB", metric: "x-faster", least: 1},
	{of: "BenchmarkSameModule/compute", metric: "x-faster", least: 1},
	{of: "BenchmarkCounting/compute", metric: "x-of-plain", most: 1.4},
	{of: "BenchmarkCounting/invoke-1KB", metric: "x-of-plain", most: 1.4},
	{of: "BenchmarkWarmCall", metric: "ours-ns"}, // 1,030 where this was written
	{of: "BenchmarkWarmCall", metric: "x-of-floor", most: 2.3},
	{of: "BenchmarkWarmCall", metric: "allocs-per-call", most: 2},
	{of: "BenchmarkLoad/go", metric: "load-ms"}, // by a new host, with compiled code on disk
	{of: "BenchmarkLoad/go", metric: "x-of-floor", most: 3},
	{of: "BenchmarkLoad/assemblyscript", metric: "load-ms"}, // most of it is the new host
	{of: "BenchmarkLoad/assemblyscript", metric: "x-of-floor", most: 9},
	{of: "BenchmarkLoad/rust", metric: "load-ms"},
	{of: "BenchmarkLoad/rust", metric: "x-of-floor", most: 5},
	{of: "BenchmarkStreaming", metric: "x-of-plain", most: 1.1},
}

// plugins compares plugins with the official Extism host, in benchmarks of a separate module
// outside go.work, and streaming with structured outputs with streaming alone.
func plugins() error {
	results := map[string]map[string][]float64{}
	if err := measure(results, "", "plugins/oracle", []string{"GOWORK=off", "GOFLAGS=-mod=mod"}, "-bench", ".",
		"-benchtime", "1s", "."); err != nil {
		return err
	}
	if err := measure(results, "", "", nil, "-bench", "Streaming", "./host/internal/plugin/node"); err != nil {
		return err
	}
	fmt.Printf("\n%-40s %10s   %s\n", "plugins", "figure", "promised")
	if missed := checkBounds(results, pluginBounds); missed > 0 {
		return fmt.Errorf("%d figures of plugins are over their limit", missed)
	}
	return nil
}
