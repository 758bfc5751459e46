package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Keys are the API keys of tenants, and the tokens with which pages embed canvases. A principal
// that makes, limits or revokes a key has all its scopes, and sets no wider limits than its own.
type Keys struct {
	store    *store.Store
	usage    *Usage
	operator operator
}

// NewKey is a key to make.
type NewKey struct {
	Name         string
	Scopes       []string   // at least one
	Rate         int64      // requests per minute; 0 is the host's own limit
	TokensPerDay int64      // model tokens on one day; 0 is the host's own limit
	Expires      *time.Time // nil for never
	Project      *string    // the only project that it uses; nil means all of its user
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

// List returns the keys of a tenant, newest first.
func (k *Keys) List(ctx context.Context, tenant string) ([]Key, error) {
	return k.store.Keys.List(ctx, tenant)
}

// Create makes a key that acts as a principal, and returns its text, which is stored as a hash.
// The key has scopes of the principal only, and the limits of the principal's key unless narrower
// ones are given. Errors: as [Error].
func (k *Keys) Create(ctx context.Context, who Principal, in NewKey) (Key, string, error) {
	if err := CheckScopes(in.Scopes); err != nil {
		return Key{}, "", err
	}
	for _, scope := range in.Scopes {
		if !who.May(scope) {
			return Key{}, "", Forbidden("A key cannot make one that may do more: the scope %s is not one of %s.", scope,
				strings.Join(who.Scopes, ", "))
		}
	}
	return k.create(ctx, who, who.Tenant, who.User, in)
}

// CreateFor makes a key that acts as the owner of a tenant, for who operates the host. In its own
// tenant only an owner can make such a key, and as for [Keys.Create]. Errors: as [Error].
func (k *Keys) CreateFor(
	ctx context.Context, who Principal, tenant, owner string, in NewKey,
) (key Key, text string, err error) {
	if err := CheckScopes(in.Scopes); err != nil {
		return Key{}, "", err
	}
	if tenant == who.Tenant {
		members, err := k.store.Members.List(ctx, who.Tenant)
		if err != nil {
			return Key{}, "", err
		}
		if roleAmong(members, who.Tenant, who.User) != RoleOwner || !who.Covers(in.Scopes) {
			return Key{}, "", Forbidden("only an owner with these scopes can make a key of an owner")
		}
	}
	return k.create(ctx, who, tenant, owner, in)
}

func (k *Keys) create(ctx context.Context, who Principal, tenant, user string, in NewKey) (Key, string, error) {
	if err := checkRate(in.Rate); err != nil {
		return Key{}, "", err
	}
	for _, scope := range in.Scopes {
		if len(k.operator.in(tenant, []string{scope})) == 0 {
			return Key{}, "", Forbidden("the scope %s is for keys of the tenant that operates the host", scope)
		}
	}
	key := Key{
		Tenant: tenant, User: user, Name: in.Name, Scopes: in.Scopes, Rate: in.Rate, TokensPerDay: in.TokensPerDay,
		Project: in.Project,
	}
	if only, limited := who.grants.Limit(); limited && key.Project == nil {
		key.Project = &only
	}
	if err := k.checkProject(ctx, who, key); err != nil {
		return Key{}, "", err
	}
	if in.Expires != nil {
		if in.Expires.Before(time.Now()) {
			return Key{}, "", BadArgument("expires must lie ahead")
		}
		key.ExpireTime = in.Expires.UnixMilli()
	}
	if maker := who.Key; maker != nil {
		key.Rate, key.TokensPerDay = cmp.Or(key.Rate, maker.Rate), cmp.Or(key.TokensPerDay, maker.TokensPerDay)
		key.ExpireTime = cmp.Or(key.ExpireTime, maker.ExpireTime)
	}
	if err := within(who, key); err != nil {
		return Key{}, "", err
	}
	return k.store.Keys.Create(ctx, key, "")
}

// checkProject refuses a key for a project that its maker does not see, and one that is limited to
// a project but administers the tenant.
func (k *Keys) checkProject(ctx context.Context, who Principal, key Key) error {
	if key.Project == nil {
		return nil
	}
	for _, scope := range []string{ScopeAdmin, ScopeHost, ScopeMetrics} {
		if slices.Contains(key.Scopes, scope) {
			return Forbidden("a key that is limited to a project cannot have the scope %s", scope)
		}
	}
	if key.Tenant != who.Tenant {
		return BadArgument("project is for keys of the caller's tenant")
	}
	who.Act = access.See
	_, err := (&Projects{k.store}).object(ctx, who, access.Object{Kind: access.Project, ID: *key.Project})
	return err
}

// within refuses limits of a key that are wider than those of a principal's own key.
func within(who Principal, key Key) error {
	if who.Key == nil {
		return nil
	}
	own := who.Key
	for _, limit := range []struct {
		name    string
		of, may int64
	}{
		{"rate", key.Rate, own.Rate},
		{"tokens_per_day", key.TokensPerDay, own.TokensPerDay},
		{"expires", key.ExpireTime, own.ExpireTime},
	} {
		if limit.may != 0 && (limit.of == 0 || limit.of > limit.may) {
			return Forbidden("%s: a key cannot give more than it has", limit.name)
		}
	}
	return nil
}

// manage finds a key that a principal may change and revoke: its own, or one that the principal
// could make. A key of an owner that administers the tenant may do more than an admin, who must not
// change owners. Errors: as [Error].
func (k *Keys) manage(ctx context.Context, who Principal, idOrText string) (Key, error) {
	key, err := k.store.Keys.Get(ctx, who.Tenant, idOrText)
	if err != nil {
		return Key{}, missing(err, "key")
	}
	if who.Key != nil && who.Key.ID == key.ID {
		return key, nil
	}
	if !who.Covers(k.operator.in(key.Tenant, key.Scopes)) {
		return Key{}, Forbidden("the key may do more than the caller")
	}
	if slices.Contains(key.Scopes, ScopeAdmin) && key.User != who.User {
		members, err := k.store.Members.List(ctx, who.Tenant)
		if err != nil {
			return Key{}, err
		}
		if roleRanks[roleAmong(members, key.Tenant, key.User)] > roleRanks[roleAmong(members, who.Tenant, who.User)] {
			return Key{}, Forbidden("the key belongs to an owner and may do more than an admin")
		}
	}
	return key, nil
}

// Limit changes what a key may use, which counts within seconds. It also returns the tokens that
// the key has used today. Errors: as [Error].
func (k *Keys) Limit(ctx context.Context, who Principal, id string, to KeyLimits) (key Key, used int64, err error) {
	key, err = k.manage(ctx, who, id)
	if err != nil {
		return key, 0, err
	}
	if to.Rate != nil {
		if err := checkRate(*to.Rate); err != nil {
			return Key{}, 0, err
		}
		key.Rate = *to.Rate
	}
	if to.TokensPerDay != nil {
		key.TokensPerDay = *to.TokensPerDay
	}
	if err := within(who, key); err != nil {
		return Key{}, 0, err
	}
	key, err = k.store.Keys.SetLimits(ctx, who.Tenant, key.ID, to.Rate, to.TokensPerDay)
	if err != nil {
		return key, 0, missing(err, "key")
	}
	all, err := k.usage.Callers(ctx, who.Tenant)
	return key, all[key.Caller()], err
}

// Delete revokes a key, by its id or by itself. Errors: as [Error].
func (k *Keys) Delete(ctx context.Context, who Principal, idOrText string) error {
	key, err := k.manage(ctx, who, idOrText)
	if err != nil {
		return err
	}
	return missing(k.store.Keys.Delete(ctx, who.Tenant, key.ID), "key")
}

// DeleteAny is Delete for keys that may be gone already.
func (k *Keys) DeleteAny(ctx context.Context, who Principal, idOrText string) error {
	if err := k.Delete(ctx, who, idOrText); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}

// MayEmbed reports whether a principal may have the tokens of embedded pages, which read and run
// canvases without limits.
func (k *Keys) MayEmbed(who Principal) bool { return who.Covers(embedScopes) && !who.Bounded() }

func (k *Keys) mustEmbed(who Principal) error {
	if k.MayEmbed(who) {
		return nil
	}
	return Forbidden("the token of embedded pages reads and runs canvases without limits; the caller may not")
}

// EmbedToken returns the token with which pages embed a canvas; it is made when missing.
// Errors: as [Error].
func (k *Keys) EmbedToken(ctx context.Context, who Principal, of Canvas) (string, error) {
	if err := k.mustEmbed(who); err != nil {
		return "", err
	}
	token, err := k.store.Betas.For(ctx, of.Tenant, of.ID)
	return token.Text, err
}

// EmbedTokenForAll returns the token with which pages embed any canvas that a principal may use; it
// is made when missing. Errors: as [Error].
func (k *Keys) EmbedTokenForAll(ctx context.Context, who Principal) (string, error) {
	if err := k.mustEmbed(who); err != nil {
		return "", err
	}
	token, err := k.store.Betas.ForAll(ctx, who.Tenant, who.User)
	return token.Text, err
}

// DeleteEmbedToken ends the token with which pages embed a canvas. Errors: [ErrNotFound].
func (k *Keys) DeleteEmbedToken(ctx context.Context, of Canvas) error {
	return missing(k.store.Betas.Delete(ctx, of.Tenant, of.ID), "token")
}

// SigningSecret returns the secret with which a site signs the ids of its users for the embed token
// of a canvas; both are made when missing. With replaces it is a new one. Only principals that may
// have the token get it: together they read the conversations of all signed users. Errors: as
// [Error].
func (k *Keys) SigningSecret(ctx context.Context, who Principal, of Canvas, replaces bool) (string, error) {
	if err := k.mustEmbed(who); err != nil {
		return "", err
	}
	token, err := k.store.Betas.For(ctx, of.Tenant, of.ID)
	if err != nil {
		return "", err
	}
	if replaces {
		return k.store.Betas.ReplaceSecret(ctx, of.Tenant, token.ID)
	}
	return k.store.Betas.Secret(ctx, of.Tenant, token.ID)
}
