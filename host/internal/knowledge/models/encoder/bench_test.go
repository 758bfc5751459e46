//go:build unix

package encoder

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// processorTime returns what this process has used: other processes do not count.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A chunk has more tokens than the model reads, as most have.
func BenchmarkChunks(b *testing.B) {
	e := builtEncoder(b)
	text := strings.Repeat("Switch the pump off before its filter is cleaned, and keep the valve closed. ", 10)
	texts := make([]string, 16)
	for i := range texts {
		texts[i] = text
	}
	for name, k := range map[string]kernel{"vector": best, "portable": portable} {
		b.Run(name, func(b *testing.B) {
			e := &Encoder{
				tokens: e.tokens, kernel: k, weights: e.weights, signal: e.signal, layers: e.layers,
				residual: e.residual, last: e.last,
			}
			began := processorTime(b)
			for b.Loop() {
				if _, err := e.Embed(b.Context(), texts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(texts)*b.N)/(processorTime(b)-began).Seconds(), "chunks/(s·core)")
		})
	}
	b.Run("question", func(b *testing.B) {
		for b.Loop() {
			if _, err := e.Embed(b.Context(), []string{"How may I return shoes that do not fit?"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
