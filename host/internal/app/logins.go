package app

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/host/internal/store"
)

// LoginOrigin describes the begin of a login.
type LoginOrigin = store.Origin

// Logins lists the logins of a principal's user, newest first. Errors: those of [Error].
func (a *Accounts) Logins(ctx context.Context, who Principal) ([]Login, error) {
	if err := a.ownsLogins(ctx, who); err != nil {
		return nil, err
	}
	return a.store.Logins.List(ctx, who.User)
}

// ownsLogins refuses a key that may do less than its user.
func (a *Accounts) ownsLogins(ctx context.Context, who Principal) error {
	if who.Login != "" {
		return nil
	}
	stands, err := a.StandsForUser(ctx, who)
	if err == nil && !stands {
		err = Forbidden("a limited key neither lists nor ends logins; log in, or use a key without limits")
	}
	return err
}

// EndOwnLogin ends a login of a principal's user, by its id; "" ends all. Errors: those of [Error].
func (a *Accounts) EndOwnLogin(ctx context.Context, who Principal, id string) error {
	if err := a.ownsLogins(ctx, who); err != nil {
		return err
	}
	return missing(a.store.Logins.End(ctx, who.User, id), "login")
}

// LoginsOf lists the logins of a user whom a principal may change. Errors: those of [Error].
func (a *Accounts) LoginsOf(ctx context.Context, who Principal, user string) ([]Login, error) {
	m, _, err := a.member(ctx, who, user)
	if err != nil {
		return nil, err
	}
	return a.store.Logins.List(ctx, m.User)
}

// EndLoginOf ends a login of a user whom a principal may change, by its id; "" ends all, also codes
// for signing in. Errors: those of [Error].
func (a *Accounts) EndLoginOf(ctx context.Context, who Principal, user, id string) error {
	m, _, err := a.member(ctx, who, user)
	if err != nil {
		return err
	}
	if err := a.store.Logins.End(ctx, m.User, id); err != nil {
		return missing(err, "login")
	}
	if id == "" {
		a.codes.forget(m.User)
	}
	return nil
}

// RemovePassword removes the password of a principal's user, who has signed in at a provider
// before. Only a login may, not a key. Errors: those of [Error].
func (a *Accounts) RemovePassword(ctx context.Context, who Principal) error {
	if who.Login == "" {
		return Forbidden("a key cannot remove a password; log in")
	}
	err := a.store.Users.RemovePassword(ctx, who.User)
	switch {
	case errors.Is(err, store.ErrLastPassword):
		return Refuse(CodeLastPassword, "one owner keeps a password, to sign in when no provider answers")
	case errors.Is(err, ErrNotFound):
		return BadArgument("sign in at a provider once before the password is removed")
	}
	return err
}
