package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"time"
)

// Login is a session of a user in a browser, identified by a cookie.
type Login struct {
	ID         string // identifies the login, and does not prove it
	User       string
	CSRF       string // token that forms must send back
	CreateTime int64  // Unix milliseconds
	ExpireTime int64  // Unix milliseconds

	Origin
}

// Origin describes the begin of a login.
type Origin struct {
	Via     string // password, key, link, or oidc: and the id of a provider; "" is not known
	Address string // of the client
	Agent   string // the User-Agent of the client
	Token   string // the ID token of the provider; it is stored sealed, and read by [Logins.Token]
}

// loginID returns the id of a login by its hash, which proves nothing.
func loginID(hash []byte) string { return hex.EncodeToString(hash[:16]) }

const loginColumns = `hash, user_id, csrf, create_time, expire_time, via, address, agent`

func scanLogin(r row) (Login, error) {
	var v Login
	var hash []byte
	err := r.Scan(&hash, &v.User, &v.CSRF, &v.CreateTime, &v.ExpireTime, &v.Via, &v.Address, &v.Agent)
	if err == nil {
		v.ID = loginID(hash)
	}
	return v, err
}

// Logins has the logins of users.
type Logins struct{ *database }

// maxAgent bounds a stored User-Agent, in bytes.
const maxAgent = 200

// Create starts a login and returns the text of the cookie, which is stored only as a hash.
func (s Logins) Create(ctx context.Context, user string, lasts time.Duration, from Origin) (Login, string, error) {
	text, now := newToken(""), s.ms()
	hash := hashToken(text)
	from.Agent = printable(from.Agent[:min(len(from.Agent), maxAgent)])
	from.Address = printable(from.Address)
	v := Login{
		ID: loginID(hash), User: user, CSRF: newToken(""), CreateTime: now, ExpireTime: now + lasts.Milliseconds(),
		Origin: from,
	}
	sealed := []byte{}
	if from.Token != "" {
		var err error
		if sealed, err = s.seal.close([]byte(from.Token), "login", v.ID); err != nil {
			return Login{}, "", fail(err, "login")
		}
	}
	const insert = `INSERT INTO logins (` + loginColumns + `, token) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	err := s.writeAlways(ctx, "login", func(ctx context.Context, q querier) error {
		// Logins are rare, so expired ones are removed here.
		if _, err := q.ExecContext(ctx, `DELETE FROM logins WHERE expire_time <= $1`, now); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, insert, hash, v.User, v.CSRF, now, v.ExpireTime, from.Via, from.Address, from.Agent,
			sealed)
		return err
	})
	if err != nil {
		return Login{}, "", err
	}
	return v, text, nil
}

// ByText returns the login of a cookie. Errors: [ErrNotFound], also for an expired login.
func (s Logins) ByText(ctx context.Context, text string) (Login, error) {
	const query = `SELECT ` + loginColumns + ` FROM logins WHERE hash = $1 AND expire_time > $2`
	v, err := scanLogin(s.read.QueryRowContext(ctx, query, hashToken(text), s.ms()))
	return v, fail(err, "login")
}

// List returns the logins of a user that have not expired, newest first.
func (s Logins) List(ctx context.Context, user string) ([]Login, error) {
	const query = `SELECT ` + loginColumns + ` FROM logins WHERE user_id = $1 AND expire_time > $2
		ORDER BY create_time DESC, hash`
	out, err := queryAll(ctx, s.read, scanLogin, query, user, s.ms())
	return out, fail(err, "logins")
}

// Token returns the ID token of the provider with which a login began; "" for none. Errors:
// [ErrNotFound].
func (s Logins) Token(ctx context.Context, text string) (string, error) {
	hash := hashToken(text)
	var sealed []byte
	err := s.read.QueryRowContext(ctx, `SELECT token FROM logins WHERE hash = $1`, hash).Scan(&sealed)
	if err != nil || len(sealed) == 0 {
		return "", fail(err, "login")
	}
	token, err := s.seal.open(sealed, "login", loginID(hash))
	return string(token), fail(err, "login")
}

// End ends a login of a user by its id, and with "" all of them. Errors: [ErrNotFound] for an id
// that the user has no login with.
func (s Logins) End(ctx context.Context, user, id string) error {
	hash, err := hex.DecodeString(id)
	if err != nil || id != "" && len(hash) != 16 {
		return fail(ErrNotFound, "login")
	}
	return s.writeAlways(ctx, "end login", func(ctx context.Context, q querier) error {
		if id == "" {
			_, err := q.ExecContext(ctx, `DELETE FROM logins WHERE user_id = $1`, user)
			return err
		}
		res, err := q.ExecContext(ctx, `DELETE FROM logins WHERE user_id = $1 AND substr(hash, 1, 16) = $2`, user, hash)
		return changed(res, err, ErrNotFound)
	})
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
