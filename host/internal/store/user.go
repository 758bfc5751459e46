package store

import (
	"context"
	"fmt"
)

// User is a person who can log in.
type User struct {
	ID         string
	Email      string
	Nickname   string
	Avatar     string
	CreateTime int64 // Unix milliseconds
	UpdateTime int64 // Unix milliseconds
}

// Users has the records of users.
type Users struct{ *database }

const userColumns = `id, email, nickname, avatar, create_time, update_time`

func (u *User) dest() []any {
	return []any{&u.ID, &u.Email, &u.Nickname, &u.Avatar, &u.CreateTime, &u.UpdateTime}
}

func (u *User) check() error {
	return checkText("id", u.ID, "email", u.Email, "nickname", u.Nickname, "avatar", u.Avatar)
}

// Create adds a user with a password. An empty ID is filled in. Errors: [ErrExists] if the
// address is taken, ignoring case; [ErrInvalid].
func (s Users) Create(ctx context.Context, u User, password string) (User, error) {
	return s.CreateMember(ctx, Member{}, u, password)
}

// CreateMember adds a user with a password and the membership m in one commit; m.User is filled in.
// An empty m.Tenant adds no membership. Errors: those of [Users.Create].
func (s Users) CreateMember(ctx context.Context, m Member, u User, password string) (User, error) {
	if u.ID == "" {
		u.ID = NewID()
	}
	if err := u.check(); err != nil {
		return User{}, fail(err, "create user")
	}
	AuditObject(ctx, u.ID)
	u.CreateTime = s.ms()
	u.UpdateTime = u.CreateTime
	hash := hashPassword(password)
	const member = `INSERT INTO members (tenant_id, user_id, role, local_role) VALUES ($1, $2, $3, $3)`
	err := s.write(ctx, "create user", func(ctx context.Context, q querier) error {
		err := insertUser(ctx, q, u, hash, u.CreateTime)
		if err == nil && m.Tenant != "" {
			_, err = q.ExecContext(ctx, member, m.Tenant, u.ID, m.Role)
		}
		return err
	})
	if err != nil {
		return User{}, err
	}
	return u, nil
}

// insertUser adds a user; an empty hash is no password.
func insertUser(ctx context.Context, q querier, u User, hash string, now int64) error {
	const insert = `INSERT INTO users (` + userColumns + `, email_fold, password) VALUES ($1, $2, $3, $4, $5, $5, $6, $7)`
	_, err := q.ExecContext(ctx, insert, u.ID, u.Email, u.Nickname, u.Avatar, now, []byte(fold(u.Email)), hash)
	return err
}

// Get returns a user. Errors: [ErrNotFound].
func (s Users) Get(ctx context.Context, id string) (User, error) {
	var u User
	err := s.read.QueryRowContext(ctx, `SELECT `+userColumns+` FROM users WHERE id = $1`, id).Scan(u.dest()...)
	return u, fail(err, "user %q", id)
}

// ByPassword returns the user with an address and password. A wrong password and an unknown
// address take the same time and both return [ErrNotFound].
func (s Users) ByPassword(ctx context.Context, email, password string) (User, error) {
	var u User
	var hash string
	const query = `SELECT ` + userColumns + `, password FROM users WHERE email_fold = $1`
	err := s.read.QueryRowContext(ctx, query, []byte(fold(email))).Scan(append(u.dest(), &hash)...)
	if err != nil && classify(err) != ErrNotFound {
		return User{}, fail(err, "login")
	}
	if hash == "" { // no such user, or one without a password
		hash = noPassword
	}
	if !fitsPassword(hash, password) || err != nil {
		return User{}, fail(ErrNotFound, "login")
	}
	return u, nil
}

// ByEmail returns the user with an address, ignoring case. Errors: [ErrNotFound].
func (s Users) ByEmail(ctx context.Context, email string) (User, error) {
	var u User
	const query = `SELECT ` + userColumns + ` FROM users WHERE email_fold = $1`
	err := s.read.QueryRowContext(ctx, query, []byte(fold(email))).Scan(u.dest()...)
	return u, fail(err, "user by address")
}

// SetNickname changes the name of a user. Errors: [ErrNotFound], [ErrInvalid].
func (s Users) SetNickname(ctx context.Context, user, name string) error {
	if err := checkText("nickname", name); err != nil {
		return fail(err, "name of user %q", user)
	}
	return s.write(ctx, fmt.Sprintf("name of user %q", user), func(ctx context.Context, q querier) error {
		const update = `UPDATE users SET nickname = $1, update_time = $2 WHERE id = $3`
		res, err := q.ExecContext(ctx, update, name, s.ms(), user)
		return changed(res, err, ErrNotFound)
	})
}

// SetPassword changes a password and ends all logins of the user.
// Errors: [ErrNotFound].
func (s Users) SetPassword(ctx context.Context, user, password string) error {
	hash := hashPassword(password)
	return s.writeAlways(ctx, fmt.Sprintf("password of user %q", user), func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, `UPDATE users SET password = $1, update_time = $2 WHERE id = $3`, hash, s.ms(), user)
		if err := changed(res, err, ErrNotFound); err != nil {
			return err
		}
		_, err = q.ExecContext(ctx, `DELETE FROM logins WHERE user_id = $1`, user)
		return err
	})
}
