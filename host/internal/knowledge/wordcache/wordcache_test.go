package wordcache

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Words that differ have keys that differ, at every length and in every byte.
func TestKeysDiffer(t *testing.T) {
	words := map[Key]string{}
	add := func(word string) {
		k, ok := KeyOf(word)
		require.True(t, ok, "%q", word)
		if have, known := words[k]; known {
			require.Equal(t, have, word)
		}
		words[k] = word
		other, _ := KeyOf([]byte(word))
		require.Equal(t, k, other)
	}
	for n := 1; n <= Longest; n++ {
		base := strings.Repeat("a", n)
		add(base)
		add(strings.Repeat("\x00", n))
		for i := range n {
			add(base[:i] + "b" + base[i+1:])
			add(base[:i] + "\x00" + base[i+1:])
		}
	}
	for _, word := range []string{"", strings.Repeat("a", Longest+1)} {
		_, ok := KeyOf(word)
		require.False(t, ok, "%q", word)
	}
}

// A cache finds what was put or nothing, never the number of another word.
func TestCache(t *testing.T) {
	var c Cache
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 200_000 {
		n := int32(rng.IntN(20_000))
		k, ok := KeyOf(fmt.Sprint("word", n))
		require.True(t, ok)
		value, ok := c.Get(k)
		if !ok {
			c.Put(k, n)
			continue
		}
		found++
		if value != n {
			t.Fatalf("word %d has number %d", n, value)
		}
	}
	require.Greater(t, found, 20_000)
}
