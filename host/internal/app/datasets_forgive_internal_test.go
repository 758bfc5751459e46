package app

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPhrasesOf(t *testing.T) {
	for question, want := range map[string][]string{
		`the "red  Pump" of “A” 「泵」 is`: {"red pump", "a", "泵"},
		`2" pump`:           nil,
		`“ “ "x" „y`:        {"x"},
		`""`:                nil,
		`“open "x" „y“ "z"`: {"x", "y", "z"},
	} {
		require.Equal(t, want, phrasesOf(question), question)
	}
}

// Marks without partners cost no more than other characters: eight times as many took 85 times as
// long, over a minute for a question of 1 MB.
func TestOpenQuotes(t *testing.T) {
	of := func(n int) time.Duration {
		question := strings.Repeat("“ ", n)
		began := time.Now()
		require.Empty(t, phrasesOf(question))
		return time.Since(began)
	}
	of(1000)
	plain := of(20_000)
	require.Less(t, of(160_000), 30*max(plain, 10*time.Millisecond))
}
