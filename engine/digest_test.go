package engine

import (
	"crypto/sha1"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSHA1IsTheStandards(t *testing.T) {
	for n := range 200 {
		text := strings.Repeat("é", n/2) + strings.Repeat("a", n%2)
		require.Equal(t, sha1.Sum([]byte(text)), sha1Sum(text), "length %d", len(text))
		require.Equal(t, sha256.Sum256([]byte(text)), sha256Sum([]byte(text)), "length %d", len(text))
	}
}
