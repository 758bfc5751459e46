package app

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// SignInLasts is the validity of a one-time sign-in code.
const SignInLasts = time.Hour

// signInCodes are codes with which a user signs in once, such as the one that the host prints when
// it starts. They are held in memory only, as hashes.
type signInCodes struct {
	mu   sync.Mutex
	list map[[sha256.Size]byte]signInCode
}

type signInCode struct {
	user   string
	expiry *time.Timer
	ended  func()
}

// NewSignInCode returns a code with which a user signs in once, within [SignInLasts]. ended, unless
// it is nil, is called when the code was used or has expired.
func (a *Accounts) NewSignInCode(user string, ended func()) string {
	code := rand.Text()
	hash, c := sha256.Sum256([]byte(code)), &a.codes
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.list == nil {
		c.list = map[[sha256.Size]byte]signInCode{}
	}
	c.list[hash] = signInCode{user, time.AfterFunc(SignInLasts, func() { c.take(hash) }), ended}
	return code
}

// take ends a code and returns its user.
func (c *signInCodes) take(hash [sha256.Size]byte) (user string, ok bool) {
	c.mu.Lock()
	code, ok := c.list[hash]
	delete(c.list, hash)
	c.mu.Unlock()
	if ok {
		code.end()
	}
	return code.user, ok
}

func (c signInCode) end() {
	c.expiry.Stop()
	if c.ended != nil {
		c.ended()
	}
}

// forget drops the codes of a user.
func (c *signInCodes) forget(user string) {
	var gone []signInCode
	c.mu.Lock()
	for hash, code := range c.list {
		if code.user == user {
			delete(c.list, hash)
			gone = append(gone, code)
		}
	}
	c.mu.Unlock()
	for _, code := range gone {
		code.end()
	}
}

// TakeSignInCode returns the id of the user of a code, which is not valid any more then. Errors:
// [ErrNotFound].
func (a *Accounts) TakeSignInCode(code string) (string, error) {
	user, ok := a.codes.take(sha256.Sum256([]byte(code)))
	if !ok {
		return "", ErrNotFound
	}
	return user, nil
}
