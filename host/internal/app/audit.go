package app

import (
	"context"
	"errors"
	"log/slog"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Audit is the log of who changed what in a tenant.
//
// The entry of an act travels in its context, and the store writes it with the first commit of the
// act. So there is no change without its entry, and no service has to name it.
type Audit struct {
	store  *store.Store
	logger *slog.Logger
}

type (
	// AuditEntry is an entry of the audit log.
	AuditEntry = store.AuditEntry
	// AuditFilter selects entries.
	AuditFilter = store.AuditFilter
	// AuditCheck is the result of a check of the chain.
	AuditCheck = store.AuditCheck
)

// Actions of sign-ins, and of the login page.
const (
	ActSignIn       = "signIn"
	ActSignInFailed = "signInFailed"
	ActJoin         = "addUserBySignIn" // an account for a person of a provider
	ActGroups       = "setRoleBySignIn" // another role, which the groups of a person give
	ActLink         = "linkSignIn"      // a person of a provider, to an account
	ActOwnPassword  = "setOwnPassword"
)

// WithAct returns a context for an act of a principal.
func WithAct(ctx context.Context, who Principal, action, object, address string) context.Context {
	return store.WithAudit(ctx, AuditEntry{
		Tenant: who.Tenant, User: who.User, Caller: string(who.Kind) + " " + who.ID, Action: action, Object: object,
		Address: address,
	})
}

// Finish writes the entry of an act that has changed nothing in the database.
func (a *Audit) Finish(ctx context.Context) error { return a.store.Audit.FinishAudit(ctx) }

// List returns entries, newest first.
func (a *Audit) List(ctx context.Context, f AuditFilter) ([]AuditEntry, error) {
	return a.store.Audit.List(ctx, f)
}

// Check compares the log of a tenant with its chain.
func (a *Audit) Check(ctx context.Context, tenant string) (AuditCheck, error) {
	return a.store.Audit.Check(ctx, tenant)
}

// signedIn returns a context for the login of a user.
func (a *Accounts) signedIn(ctx context.Context, user string, from LoginOrigin) (context.Context, error) {
	members, err := a.store.Members.OfUser(ctx, user)
	if err != nil || len(members) == 0 {
		return ctx, err
	}
	return store.WithAudit(ctx, AuditEntry{
		Tenant: OwnTenant(members).Tenant, User: user, Caller: from.Via, Action: ActSignIn, Object: user,
		Address: from.Address,
	}), nil
}

// SignInFailed records a wrong password of an account. It does not wait: an unknown address, which
// has no tenant and is not recorded, would be answered faster.
func (a *Audit) SignInFailed(ctx context.Context, email, address string) {
	ctx = context.WithoutCancel(ctx)
	go func() {
		if err := a.signInFailed(ctx, email, address); err != nil {
			a.logger.Warn("a failed sign-in is not in the audit log", "err", err)
		}
	}()
}

func (a *Audit) signInFailed(ctx context.Context, email, address string) error {
	u, err := a.store.Users.ByEmail(ctx, email)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	members, err := a.store.Members.OfUser(ctx, u.ID)
	if err != nil || len(members) == 0 {
		return err
	}
	return a.Finish(store.WithAudit(ctx, AuditEntry{
		Tenant: OwnTenant(members).Tenant, Caller: "password", Action: ActSignInFailed, Object: u.ID, Address: address,
	}))
}

// ProviderFailed records a person who came from a provider and was refused. Errors: of the store.
func (a *Audit) ProviderFailed(ctx context.Context, p TenantProvider, address string) error {
	return a.Finish(store.WithAudit(ctx, AuditEntry{
		Tenant: p.Tenant, Caller: "oidc:" + p.Key(), Action: ActSignInFailed, Address: address,
	}))
}
