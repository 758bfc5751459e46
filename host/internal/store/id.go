package store

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
)

// NewID returns an id of 32 lower-case hex characters, 128 random bits that cannot be guessed: some
// ids open what they name, such as the session of a visitor.
func NewID() string {
	var b [16]byte
	// Since Go 1.24 rand.Read never returns an error; it crashes the program instead.
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// NewDocumentID returns a random id in the form of a UUID of version 1, the only one that clients
// of the 0.23 dialect accept for datasets and documents. A UUID that was really made as version 1
// holds the time and the address of the host, so that others can be guessed from one.
func NewDocumentID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x10, b[8]&0x3f|0x80
	return hex.EncodeToString(b[:])
}

// newToken returns prefix and 43 characters of A-Z a-z 0-9 - _ (256 random bits).
func newToken(prefix string) string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}
