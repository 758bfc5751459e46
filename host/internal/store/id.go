package store

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
)

// newID is 32 lower-case hex characters, random: what a row gets that came
// without an id.
func newID() string {
	var b [16]byte
	// Since Go 1.24 rand.Read does not fail; it stops the program instead.
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// newToken is prefix and 43 characters of A-Z a-z 0-9 - _ (256 random bits).
func newToken(prefix string) string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}
