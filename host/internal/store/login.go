package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"
)

// Login is a session of a user in a browser, identified by a cookie.
type Login struct {
	User       string
	CSRF       string // token that forms must send back
	ExpireTime int64  // Unix milliseconds
}

// Logins has the logins of users.
type Logins struct{ *database }

// Create starts a login and returns the text of the cookie, which is stored only as a hash.
func (s Logins) Create(ctx context.Context, user string, lasts time.Duration) (Login, string, error) {
	text, now := newToken(""), s.ms()
	v := Login{User: user, CSRF: newToken(""), ExpireTime: now + lasts.Milliseconds()}
	const insert = `INSERT INTO logins (hash, user_id, csrf, create_time, expire_time) VALUES ($1, $2, $3, $4, $5)`
	err := s.writeAlways(ctx, "login", func(ctx context.Context, q querier) error {
		// Logins are rare, so expired ones are removed here.
		if _, err := q.ExecContext(ctx, `DELETE FROM logins WHERE expire_time <= $1`, now); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, insert, hashToken(text), v.User, v.CSRF, now, v.ExpireTime)
		return err
	})
	if err != nil {
		return Login{}, "", err
	}
	return v, text, nil
}

// ByText returns the login of a cookie. Errors: [ErrNotFound], also for an expired login.
func (s Logins) ByText(ctx context.Context, text string) (Login, error) {
	var v Login
	const query = `SELECT user_id, csrf, expire_time FROM logins WHERE hash = $1 AND expire_time > $2`
	err := s.read.QueryRowContext(ctx, query, hashToken(text), s.ms()).Scan(&v.User, &v.CSRF, &v.ExpireTime)
	return v, fail(err, "login")
}

// Delete ends a login. A missing login is not an error.
func (s Logins) Delete(ctx context.Context, text string) error {
	return s.writeAlways(ctx, "logout", func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, `DELETE FROM logins WHERE hash = $1`, hashToken(text))
		return err
	})
}

// AccountName normalizes the address of an account: all spellings that find the same account have
// the same AccountName.
func AccountName(email string) string { return fold(email) }

// NewDevice returns the text of a cookie which proves that a device has logged in to an account
// before. It is sealed, not stored, and is not a login.
func (s Logins) NewDevice(account string) (string, error) {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never returns an error
	sealed, err := s.seal.close(id, "device", account)
	return base64.RawURLEncoding.EncodeToString(sealed), err
}

// DeviceID returns the id in a text made by [Logins.NewDevice] for the account. Errors:
// [ErrNotFound] for any other text.
func (s Logins) DeviceID(account, text string) (string, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", fail(ErrNotFound, "device")
	}
	id, err := s.seal.open(sealed, "device", account)
	if err != nil {
		return "", fail(ErrNotFound, "device")
	}
	return string(id), nil
}
