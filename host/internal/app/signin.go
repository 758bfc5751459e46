package app

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// SignInLasts is how long a code for signing in once is valid.
const SignInLasts = time.Hour

// signInCodes are codes with which a user signs in once, such as the one that the host prints when
// it starts. They are held in memory only, as hashes.
type signInCodes struct {
	mu   sync.Mutex
	list map[[sha256.Size]byte]signInCode
}

type signInCode struct {
	user  string
	until time.Time
}

// NewSignInCode returns a code with which a user signs in once, within [SignInLasts].
func (a *Accounts) NewSignInCode(user string) string {
	code := rand.Text()
	c := &a.codes
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for hash, other := range c.list {
		if now.After(other.until) {
			delete(c.list, hash)
		}
	}
	if c.list == nil {
		c.list = map[[sha256.Size]byte]signInCode{}
	}
	c.list[sha256.Sum256([]byte(code))] = signInCode{user, now.Add(SignInLasts)}
	return code
}

// TakeSignInCode returns the id of the user of a code, which is not valid any more then. Errors:
// [ErrNotFound].
func (a *Accounts) TakeSignInCode(code string) (string, error) {
	hash, c := sha256.Sum256([]byte(code)), &a.codes
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.list[hash]
	delete(c.list, hash)
	if !ok || time.Now().After(found.until) {
		return "", ErrNotFound
	}
	return found.user, nil
}
