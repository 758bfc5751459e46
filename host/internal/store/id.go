package store

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
)

// newID returns a random id of 32 lower-case hex characters, for rows created without an id.
func newID() string {
	var b [16]byte
	// Since Go 1.24 rand.Read never returns an error; it crashes the program instead.
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// newToken returns prefix and 43 characters of A-Z a-z 0-9 - _ (256 random bits).
func newToken(prefix string) string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}
