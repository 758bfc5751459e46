package app

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Accounts are the people of tenants, with their logins, and what authenticates requests.
type Accounts struct {
	store    *store.Store
	operator operator
	codes    signInCodes
	clock    func() time.Time // nil means time.Now
	fixed    []string         // ids of the OpenID providers of the command line
}

// Limits of passwords. There are no rules about their characters.
const (
	ShortestPassword = 8    // characters
	longestPassword  = 1024 // bytes; keeps the work of a check small
)

// LoginLasts is the validity of a login.
const LoginLasts = 7 * 24 * time.Hour

// ByKey returns the principal of an API key. Errors: [ErrNotFound].
func (a *Accounts) ByKey(ctx context.Context, text string) (Principal, error) {
	key, err := a.store.Keys.ByText(ctx, text)
	if err != nil {
		return Principal{}, err
	}
	return Principal{
		Tenant: key.Tenant, User: key.User, Groups: key.Groups,
		Scopes: a.operator.in(key.Tenant, key.Scopes), Key: &key,
		Caller: key.Caller(), Rate: key.Rate, Kind: runs.ByKey, ID: key.ID,
	}, nil
}

// ByEmbedToken returns the principal of an embedded page, which has no user. Errors: [ErrNotFound].
func (a *Accounts) ByEmbedToken(ctx context.Context, text string) (Principal, error) {
	token, err := a.store.Betas.ByText(ctx, text)
	if err != nil {
		return Principal{}, err
	}
	canvas := token.Canvas
	if canvas == "" {
		canvas = "*"
	}
	return Principal{
		Tenant: token.Tenant, Canvas: canvas, Embeds: true, Scopes: embedScopes, Caller: "beta " + token.ID,
		Kind: runs.ByEmbed, ID: token.ID, embedder: token.User,
	}, nil
}

// ByLogin returns the principal of a login. Errors: [ErrNotFound].
func (a *Accounts) ByLogin(ctx context.Context, text string) (Principal, error) {
	v, err := a.store.Logins.ByText(ctx, text)
	if err != nil {
		return Principal{}, err
	}
	member, err := a.store.Members.OfUser(ctx, v.User)
	if err != nil {
		return Principal{}, err
	}
	if len(member) == 0 {
		return Principal{}, ErrNotFound
	}
	own := OwnTenant(member)
	groups, err := a.store.Groups.Of(ctx, own.Tenant, v.User)
	if err != nil {
		return Principal{}, err
	}
	return Principal{
		Tenant: own.Tenant, User: v.User, Groups: groups,
		Scopes: a.operator.scopesOf(own.Tenant, own.Role), CSRF: v.CSRF,
		Login: v.ID, Via: v.Via,
		Caller: "user " + v.User, Kind: runs.ByLogin, ID: v.User,
	}, nil
}

// OwnTenant returns where a login of a user of several tenants works: in the tenant that is the
// account's own. A tenant of the original is its owner's user, so that one precedes others that the
// user owns; then the others, where it may do most. The list has one member at least.
func OwnTenant(list []Member) Member {
	rank := func(m Member) int {
		if m.Tenant == m.User {
			return roleRanks[RoleOwner] + 1
		}
		return roleRanks[m.Role]
	}
	own := list[0]
	for _, m := range list[1:] {
		if rank(m) > rank(own) {
			own = m
		}
	}
	return own
}

// Verify finds the user of an address and a password, which may be in base64, or of an API key in
// its place. Errors: [ErrNotFound].
func (a *Accounts) Verify(ctx context.Context, email, password string) (User, error) {
	tries := []string{password}
	if plain, err := base64.StdEncoding.DecodeString(password); err == nil && PlainText(string(plain)) {
		tries = append(tries, string(plain))
	}
	for _, p := range tries {
		if p == "" {
			continue
		}
		if who, err := a.ByKey(ctx, p); err == nil {
			switch stands, err := a.StandsForUser(ctx, who); {
			case err != nil:
				return User{}, err
			case stands:
				return a.store.Users.Get(ctx, who.User)
			}
		}
		u, err := a.store.Users.ByPassword(ctx, email, p)
		if !errors.Is(err, ErrNotFound) {
			return u, err
		}
	}
	return User{}, ErrNotFound
}

// StandsForUser reports whether a principal has an API key that is as good as the password of its
// user: it may do all that the user may, without limits, in the tenant in which the
// user's logins work. Any other key would be exchanged for a login that may do more.
func (a *Accounts) StandsForUser(ctx context.Context, who Principal) (bool, error) {
	if who.Key == nil || who.Bounded() {
		return false, nil
	}
	member, err := a.store.Members.OfUser(ctx, who.User)
	if err != nil || len(member) == 0 {
		return false, err
	}
	own := OwnTenant(member)
	return own.Tenant == who.Tenant && who.Covers(a.operator.scopesOf(own.Tenant, own.Role)), nil
}

// NewLogin makes a login of a user and returns its text, which is stored as a hash only.
func (a *Accounts) NewLogin(ctx context.Context, user string, from LoginOrigin) (Login, string, error) {
	ctx, err := a.signedIn(ctx, user, from)
	if err != nil {
		return Login{}, "", err
	}
	return a.store.Logins.Create(ctx, user, LoginLasts, from)
}

// LoginToken returns the ID token of the provider with which a login began; "" for none.
func (a *Accounts) LoginToken(ctx context.Context, text string) (string, error) {
	return a.store.Logins.Token(ctx, text)
}

// EndLogin ends the login with a text, if there is one.
func (a *Accounts) EndLogin(ctx context.Context, text string) error {
	return a.store.Logins.Delete(ctx, text)
}

// Device returns the id of a device that has logged in to an account. Errors: when the text is
// forged or of another account.
func (a *Accounts) Device(account, text string) (string, error) {
	return a.store.Logins.DeviceID(account, text)
}

// NewDevice returns the text that marks a device of an account.
func (a *Accounts) NewDevice(account string) (string, error) {
	return a.store.Logins.NewDevice(account)
}

// User finds a user. Errors: [ErrNotFound].
func (a *Accounts) User(ctx context.Context, id string) (User, error) {
	return a.store.Users.Get(ctx, id)
}

// longestNickname bounds the name of a user, in characters.
const longestNickname = 100

// SetNickname changes the name of the user of a principal. Errors: those of [Error].
func SetNickname(ctx context.Context, a *Accounts, who Principal, name string) error {
	if who.Key != nil {
		switch stands, err := a.StandsForUser(ctx, who); {
		case err != nil:
			return err
		case !stands:
			return Forbidden("a limited key cannot change a profile; log in, or use a key without limits")
		}
	}
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > longestNickname || !PlainText(name) {
		return &Error{CodeBadArgument, fmt.Sprintf("nickname must be 1 to %d characters in one line",
			longestNickname), "nickname"}
	}
	err := a.store.Users.SetNickname(ctx, who.User, name)
	if errors.Is(err, ErrNotFound) {
		return Refuse(CodeNoUser, "this key belongs to no user who can log in")
	}
	return err
}

// Nickname returns the name of a user for people; the id serves when nothing is known.
func (a *Accounts) Nickname(ctx context.Context, user string) string {
	u, err := a.store.Users.Get(ctx, user)
	if err != nil || u.Nickname == "" {
		return user
	}
	return u.Nickname
}

// PlainText reports whether a text is UTF-8 in one line, without control characters.
func PlainText(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp)
	})
}

func checkPassword(p string) error {
	switch {
	case utf8.RuneCountInString(p) < ShortestPassword:
		return BadArgument("a password has at least %d characters", ShortestPassword)
	case len(p) > longestPassword:
		return BadArgument("a password has at most %d bytes", longestPassword)
	case !PlainText(p):
		return BadArgument("a password is UTF-8 text without control characters")
	}
	return nil
}

// SetPassword changes the password of a user and ends all its logins and codes for signing in.
func (a *Accounts) SetPassword(ctx context.Context, user, password string) error {
	if err := checkPassword(password); err != nil {
		return err
	}
	if err := a.store.Users.SetPassword(ctx, user, password); err != nil {
		return err
	}
	a.codes.forget(user)
	return nil
}
