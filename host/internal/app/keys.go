package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Keys are the API keys of tenants, and the tokens with which pages embed canvases.
type Keys struct {
	store *store.Store
	usage *Usage
}

// NewKey is a key to make.
type NewKey struct {
	Tenant, User string
	Name         string
	Scopes       []string
	Rate         int64      // requests per minute; 0 is the host's own limit
	TokensPerDay int64      // model tokens on one day; 0 is the host's own limit
	Expires      *time.Time // nil for never
}

// KeyLimits change what a key may use; nil leaves a limit as it is.
type KeyLimits struct{ Rate, TokensPerDay *int64 }

// mostRate is the highest rate a key can be given, in requests per minute.
const mostRate = 1_000_000

func checkRate(perMinute int64) error {
	if perMinute < 0 || perMinute > mostRate {
		return BadArgument("rate must be between 0 and %d requests per minute", mostRate)
	}
	return nil
}

// CheckScopes refuses scopes that do not exist.
func CheckScopes(scopes []string) error {
	for _, s := range scopes {
		if !slices.Contains(Scopes, s) {
			return BadArgument("unknown scope %.40q; known are %s", s, strings.Join(Scopes, ", "))
		}
	}
	return nil
}

// GrantScopes returns the scopes of a key that a principal makes. Without any it gets those of the
// principal, who cannot grant more than it has.
func GrantScopes(who Principal, scopes []string) ([]string, error) {
	if err := CheckScopes(scopes); err != nil {
		return nil, err
	}
	if len(scopes) == 0 {
		return who.Scopes, nil
	}
	if !who.Covers(scopes) {
		return nil, Forbidden("A key cannot make one that may do more.")
	}
	return scopes, nil
}

// List returns the keys of a tenant, newest first.
func (k *Keys) List(ctx context.Context, tenant string) ([]Key, error) {
	return k.store.Keys.List(ctx, tenant)
}

// Create makes a key and returns its text, which is stored as a hash only. Errors: those of
// [Error].
func (k *Keys) Create(ctx context.Context, in NewKey) (Key, string, error) {
	if err := checkRate(in.Rate); err != nil {
		return Key{}, "", err
	}
	key := Key{
		Tenant: in.Tenant, User: in.User, Name: in.Name, Scopes: in.Scopes, Rate: in.Rate,
		TokensPerDay: in.TokensPerDay,
	}
	if in.Expires != nil {
		if in.Expires.Before(time.Now()) {
			return Key{}, "", BadArgument("expires must lie ahead")
		}
		key.ExpireTime = in.Expires.UnixMilli()
	}
	return k.store.Keys.Create(ctx, key, "")
}

// Limit changes what a key may use, which counts within seconds. It also returns the tokens that
// the key has used today. Errors: those of [Error].
func (k *Keys) Limit(ctx context.Context, tenant, id string, to KeyLimits) (key Key, used int64, err error) {
	if to.Rate != nil {
		if err := checkRate(*to.Rate); err != nil {
			return Key{}, 0, err
		}
	}
	key, err = k.store.Keys.SetLimits(ctx, tenant, id, to.Rate, to.TokensPerDay)
	if err != nil {
		return key, 0, missing(err, "key")
	}
	all, err := k.usage.Callers(ctx, tenant)
	return key, all[key.Caller()], err
}

// Delete revokes a key, by its id or by itself. Errors: [ErrNotFound].
func (k *Keys) Delete(ctx context.Context, tenant, idOrText string) error {
	return missing(k.store.Keys.Delete(ctx, tenant, idOrText), "key")
}

// DeleteAny is Delete for keys that may be gone already.
func (k *Keys) DeleteAny(ctx context.Context, tenant, idOrText string) error {
	if err := k.store.Keys.Delete(ctx, tenant, idOrText); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}

// EmbedToken returns the token with which pages embed a canvas; it is made when there is none.
func (k *Keys) EmbedToken(ctx context.Context, of Canvas) (string, error) {
	token, err := k.store.Betas.For(ctx, of.Tenant, of.ID)
	return token.Text, err
}

// EmbedTokenForAll returns the token with which pages embed any canvas that a principal may use; it
// is made when there is none.
func (k *Keys) EmbedTokenForAll(ctx context.Context, who Principal) (string, error) {
	token, err := k.store.Betas.ForAll(ctx, who.Tenant, who.User)
	return token.Text, err
}

// DeleteEmbedToken ends the token with which pages embed a canvas. Errors: [ErrNotFound].
func (k *Keys) DeleteEmbedToken(ctx context.Context, of Canvas) error {
	return missing(k.store.Betas.Delete(ctx, of.Tenant, of.ID), "token")
}
