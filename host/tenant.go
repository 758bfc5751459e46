package host

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
)

// The tenant and user of a host with one user.
const (
	firstTenantID = "00000000000000000000000000000001"
	firstUserID   = firstTenantID // a tenant of the original is its owner's user
	firstUserMail = "me@localhost"
)

// FirstTenant is the id of the tenant that a host with one user has.
const FirstTenant = firstTenantID

// SignInPath returns a path at which the first user signs in once, without a password; see
// [app.SignInLasts]. ended, unless it is nil, is called when the path was used or has expired.
func (h *Host) SignInPath(ended func()) string {
	return "/login?once=" + h.accounts.NewSignInCode(firstUserID, ended)
}

// firstTenant makes tenant, user and key at the first start.
func (h *Host) firstTenant(ctx context.Context, templates []app.Template) error {
	_, err := h.store.Tenants.Get(ctx, firstTenantID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	fresh := err != nil
	if fresh {
		if err := h.makeTenant(ctx); err != nil {
			return err
		}
		if h.cfg.InstallExamples {
			if err := h.installTemplates(ctx, templates); err != nil {
				return err
			}
		}
	}
	keys, err := h.store.Keys.List(ctx, firstTenantID)
	if err != nil {
		return err
	}
	if len(keys) > 0 && h.cfg.Key == "" {
		return nil
	}
	first := store.Key{Tenant: firstTenantID, User: firstUserID, Name: "first", Scopes: app.Scopes}
	_, text, err := h.store.Keys.Create(ctx, first, h.cfg.Key)
	if err == nil && h.cfg.Key == "" {
		h.Key = text
	}
	return err
}

// makeTenant may run on several hosts at once; each step can be repeated.
func (h *Host) makeTenant(ctx context.Context) error {
	// A random password: the user logs in with a key until another one is set.
	user := store.User{ID: firstUserID, Email: firstUserMail, Nickname: "me"}
	if _, err := h.store.Users.Create(ctx, user, rand.Text()); err != nil && !errors.Is(err, store.ErrExists) {
		return err
	}
	if err := h.store.Members.Put(
		ctx, store.Member{Tenant: firstTenantID, User: firstUserID, Role: "owner"},
	); err != nil {
		return err
	}
	_, err := h.store.Tenants.Put(ctx, store.Tenant{ID: firstTenantID, Name: "me"})
	return err
}
