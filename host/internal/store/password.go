package store

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/crypto/argon2"
)

// Cost of one password check: the second recommended option of RFC 9106 with a third of its memory,
// since a small host must sustain several checks at once.
const (
	argonTime    = 3
	argonMemory  = 19 * 1024 // KiB
	argonThreads = 1
	argonLength  = 32 // bytes
)

// checks limits concurrent password checks, to bound their memory.
var checks = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)))

// noPassword is compared if there is no such user, so that the response takes equally long. No
// password matches it.
var noPassword = encodePassword(make([]byte, 16), make([]byte, argonLength))

// hashPassword returns the standard encoding: $argon2id$v=19$m=..,t=..,p=..$salt$hash.
func hashPassword(password string) string {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt)
	return encodePassword(salt, derive(password, salt, argonTime, argonMemory, argonThreads))
}

func derive(password string, salt []byte, time, memory uint32, threads uint8) []byte {
	checks <- struct{}{}
	defer func() { <-checks }()
	return argon2.IDKey([]byte(password), salt, time, memory, threads, argonLength)
}

func encodePassword(salt, hash []byte) string {
	b := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		b.EncodeToString(salt), b.EncodeToString(hash))
}

// fitsPassword compares in constant time. It reads the cost parameters from the stored hash, so
// that they can be raised later.
func fitsPassword(stored, password string) bool {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false
	}
	var memory, time uint32
	var threads uint8
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &time, &threads); err != nil {
		return false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || time == 0 || threads == 0 {
		return false
	}
	return subtle.ConstantTimeCompare(derive(password, salt, time, memory, threads), want) == 1
}
