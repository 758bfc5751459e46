package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app/identity"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Identities sign people in at OpenID providers: those of the command line, which are the operating
// tenant's, and those that owners add to their tenants.
//
// People are known by issuer and subject. An address that a provider reports never finds an
// account: those who can set it there would get the account here.
type Identities struct {
	store    *store.Store
	accounts *Accounts
	fixed    []*identity.Provider
	// transport is for providers of tenants, which are not trusted with addresses of this network.
	transport http.RoundTripper
	logger    *slog.Logger

	mu    sync.Mutex
	added map[string]addedProvider // by tenant and id
}

type addedProvider struct {
	rev int64
	*identity.Provider
}

func newIdentities(cfg Config, accounts *Accounts) *Identities {
	out := &Identities{store: cfg.Store, accounts: accounts, transport: cfg.SignInTransport, logger: cfg.Logger}
	for _, p := range cfg.SignIn {
		out.fixed = append(out.fixed, identity.New(p, nil, accounts.clock))
		accounts.fixed = append(accounts.fixed, p.ID)
	}
	return out
}

type (
	// ProviderConfig describes an OpenID provider.
	ProviderConfig = identity.Config
	// SignInAttempt has the proofs of a browser that comes back from a provider.
	SignInAttempt = identity.Attempt
)

// ParseProvider reads a provider of the form issuer=...,client=...,secret=FILE.
func ParseProvider(text string) (ProviderConfig, error) { return identity.Parse(text) }

// providerKind is the kind of items that are OpenID providers.
const providerKind = "oidc"

// Errors of sign-ins at a provider; see package identity.
var (
	ErrSignInAttempt     = identity.ErrAttempt
	ErrSignInRefused     = identity.ErrRefused
	ErrSignInToken       = identity.ErrToken
	ErrSignInOverage     = identity.ErrOverage
	ErrSignInUnreachable = identity.ErrUnreachable
	// ErrNoRole means that a person has signed in whose groups give no role.
	ErrNoRole = errors.New("the groups of the person give no role")
	// ErrUnlinked means that a person has signed in who has no account here yet.
	ErrUnlinked = errors.New("the person has no account here yet")
	// ErrOtherTenant means that an account works in a tenant that is not the provider's.
	ErrOtherTenant = errors.New("the account works in another tenant than the provider")
)

// TenantProvider is a provider with the tenant whose people it signs in.
type TenantProvider struct {
	Tenant string
	Fixed  bool // set by the command line
	*identity.Provider
	key string
}

// Key names the provider in paths: its id, and after @ a tenant other than the operating one.
func (p TenantProvider) Key() string { return p.key }

func (a *Identities) key(tenant, id string) string {
	if tenant == string(a.accounts.operator) {
		return id
	}
	return id + "@" + tenant
}

// Find returns a provider by its key. Errors: [ErrNotFound].
func (a *Identities) Find(ctx context.Context, key string) (TenantProvider, error) {
	id, tenant, ok := strings.Cut(key, "@")
	if !ok {
		tenant = string(a.accounts.operator)
		for _, p := range a.fixed {
			if p.ID == id {
				return TenantProvider{tenant, true, p, id}, nil
			}
		}
	}
	item, err := a.store.Items.Get(ctx, tenant, providerKind, id)
	if err != nil {
		return TenantProvider{}, missing(err, "provider")
	}
	return a.provider(item)
}

func (a *Identities) provider(item Item) (TenantProvider, error) {
	key := a.key(item.Tenant, item.ID)
	a.mu.Lock()
	defer a.mu.Unlock()
	known, ok := a.added[key]
	if !ok || known.rev != item.Rev {
		var cfg ProviderConfig
		if err := json.Unmarshal(item.Doc, &cfg); err != nil {
			return TenantProvider{}, err
		}
		cfg.ID, cfg.Secret = item.ID, string(item.Secret)
		known = addedProvider{item.Rev, identity.New(cfg, a.transport, a.accounts.clock)}
		if a.added == nil {
			a.added = map[string]addedProvider{}
		}
		a.added[key] = known
	}
	return TenantProvider{item.Tenant, false, known.Provider, key}, nil
}

// List returns the providers of a tenant; "" is the operating one.
func (a *Identities) List(ctx context.Context, tenant string) ([]TenantProvider, error) {
	var out []TenantProvider
	if operator := string(a.accounts.operator); tenant == "" || tenant == operator {
		tenant = operator
		for _, p := range a.fixed {
			out = append(out, TenantProvider{tenant, true, p, p.ID})
		}
	}
	items, err := a.store.Items.List(ctx, tenant, providerKind)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if slices.ContainsFunc(out, func(p TenantProvider) bool { return p.ID == item.ID }) {
			continue // the command line has another one of this name
		}
		p, err := a.provider(item)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Put adds or replaces a provider of a principal's tenant; an empty secret keeps that of before if
// the issuer is the same. Only owners may: the groups of a provider make owners. Errors: those of
// [Error].
func (a *Identities) Put(ctx context.Context, who Principal, cfg ProviderConfig) (TenantProvider, error) {
	if err := a.mayChange(ctx, who); err != nil {
		return TenantProvider{}, err
	}
	if err := cfg.Check(); err != nil {
		return TenantProvider{}, BadArgument("%s", err)
	}
	for _, role := range cfg.Roles {
		if err := checkRole(role); err != nil {
			return TenantProvider{}, err
		}
	}
	if cfg.NewRole != "" {
		if err := checkRole(cfg.NewRole); err != nil {
			return TenantProvider{}, err
		}
	}
	if who.Tenant == string(a.accounts.operator) &&
		slices.ContainsFunc(a.fixed, func(p *identity.Provider) bool { return p.ID == cfg.ID }) {
		return TenantProvider{}, Refuse(CodeExists, "the provider %s is set by the command line of the host", cfg.ID)
	}
	item, err := a.store.Items.Get(ctx, who.Tenant, providerKind, cfg.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return TenantProvider{}, err
	}
	item.Tenant, item.Kind, item.ID, item.Name, item.Repeats = who.Tenant, providerKind, cfg.ID, cfg.Name, true
	var former ProviderConfig
	if len(item.Doc) > 0 {
		if err := json.Unmarshal(item.Doc, &former); err != nil {
			return TenantProvider{}, err
		}
	}
	if cfg.Secret != "" || cfg.Issuer != former.Issuer { // a secret is sent to the issuer that it is for
		item.Secret = []byte(cfg.Secret)
	}
	cfg.Secret = ""
	if item.Doc, err = json.Marshal(cfg); err != nil {
		return TenantProvider{}, err
	}
	if item, err = a.store.Items.Put(ctx, item); errors.Is(err, ErrConflict) || errors.Is(err, ErrExists) {
		return TenantProvider{}, Refuse(CodeChanged, "the provider was changed at the same time; try again")
	} else if err != nil {
		return TenantProvider{}, err
	}
	return a.provider(item)
}

// Delete removes a provider of a principal's tenant. The accounts of its people stay, and cannot
// sign in there. Errors: those of [Error].
func (a *Identities) Delete(ctx context.Context, who Principal, id string) error {
	if err := a.mayChange(ctx, who); err != nil {
		return err
	}
	return missing(a.store.Identities.DeleteProvider(ctx, who.Tenant, providerKind, id), "provider")
}

func (a *Identities) mayChange(ctx context.Context, who Principal) error {
	members, err := a.store.Members.List(ctx, who.Tenant)
	if err != nil {
		return err
	}
	return a.accounts.outranks(who, members, RoleOwner)
}

// Arrival is a person who has come from a provider, as far as the host keeps it until the person
// has proved an account with a password.
type Arrival struct {
	Provider string  `json:"provider"` // key
	Issuer   string  `json:"issuer"`
	Subject  string  `json:"subject"`
	Role     *string `json:"role"` // that the groups give; nil if the provider sent none
	// Groups are those that the provider reported; nil if it sent no claim with groups.
	Groups *access.Groups `json:"groups"`
	Name   string         `json:"name"`
	Email  string         `json:"email"`
	Until  int64          `json:"until"` // Unix milliseconds
	Token  string         `json:"-"`     // the ID token
}

// Arrive reads the groups of a person. A provider that maps no groups sets no roles; one that does
// and sent no claim leaves the roles as they are, with a warning.
func (a *Identities) Arrive(p TenantProvider, person identity.Person) Arrival {
	out := Arrival{
		Provider: p.Key(), Issuer: person.Issuer, Subject: person.Subject, Name: person.Name, Email: person.Email,
		Until: a.accounts.now().Add(ArrivalLasts).UnixMilli(), Token: person.Token,
	}
	if person.Groups != nil {
		groups := access.GroupsOf(person.Groups...)
		out.Groups = &groups
		if n := len(groups.Names()); n < len(person.Groups) {
			a.logger.Warn("some groups of a provider are repeated or cannot be names of groups", "provider", p.Key(),
				"reported", len(person.Groups), "used", n)
		}
	}
	switch {
	case len(p.Roles) == 0:
	case person.Groups == nil:
		a.logger.Warn("a provider sent no groups, so roles stay as they are", "provider", p.Key(),
			"claim", p.GroupsClaim)
	default:
		roles := []string{""}
		for _, group := range person.Groups {
			roles = append(roles, p.Roles[group])
		}
		role := strongest(roles...)
		out.Role = &role
	}
	return out
}

// ArrivalLasts bounds the time in which a person who came from a provider proves an account.
const ArrivalLasts = 10 * time.Minute

// strongest returns the role with the highest rank; "" is the weakest.
func strongest(roles ...string) string {
	return slices.MaxFunc(roles, func(a, b string) int { return roleRanks[a] - roleRanks[b] })
}

// ranks compares roles in a tenant.
func (a *Accounts) ranks(tenant string) store.Ranks {
	return store.Ranks{
		Strongest: strongest,
		Beyond: func(role string, key Key) bool {
			may := Principal{Scopes: a.operator.scopesOf(tenant, role)}
			return !may.Covers(a.operator.in(tenant, key.Scopes))
		},
		Fixed: a.fixedIn(tenant),
	}
}

// fixedIn returns the providers of a tenant that the command line has.
func (a *Accounts) fixedIn(tenant string) []string {
	if tenant != string(a.operator) {
		return nil
	}
	return a.fixed
}

// SignIn returns the user of a person who came from a provider, with the roles that the groups
// give. A person without an account gets one if the groups, or the provider, lead to a role and the
// address is free. The client has the network address client. Errors: [ErrUnlinked], [ErrNoRole],
// [ErrOtherTenant].
func (a *Identities) SignIn(ctx context.Context, p TenantProvider, in Arrival, client string) (User, error) {
	v, err := a.store.Identities.Get(ctx, p.Tenant, in.Issuer, in.Subject)
	if errors.Is(err, ErrNotFound) {
		v, err = a.join(ctx, p, in, client)
	}
	if err != nil {
		return User{}, err
	}
	return a.enter(ctx, p, v, in, client)
}

// act is an entry of the audit log for what a provider causes.
func (p TenantProvider) act(action, user, address string) store.AuditEntry {
	return store.AuditEntry{
		Tenant: p.Tenant, User: user, Caller: "oidc:" + p.Key(), Action: action, Object: user, Address: address,
	}
}

// join makes the account of a person.
func (a *Identities) join(ctx context.Context, p TenantProvider, in Arrival, address string) (store.Identity, error) {
	role := p.NewRole
	if in.Role != nil {
		role = strongest(*in.Role, role)
	}
	if role == "" || in.Email == "" {
		return store.Identity{}, ErrUnlinked
	}
	u, err := newUser(NewUser{Email: in.Email, Nickname: in.Name})
	if err != nil {
		return store.Identity{}, ErrUnlinked // such an address signs in nowhere
	}
	v := store.Identity{Tenant: p.Tenant, Issuer: in.Issuer, Subject: in.Subject, Provider: p.ID}
	v, err = a.store.Identities.Link(store.WithAudit(ctx, p.act(ActJoin, "", address)), v, &u)
	if errors.Is(err, ErrExists) {
		return v, ErrUnlinked // somebody has the address: only a password proves that it is this person
	}
	return v, err
}

// enter applies the roles of a linked person.
func (a *Identities) enter(
	ctx context.Context, p TenantProvider, v store.Identity, in Arrival, address string,
) (User, error) {
	role := in.Role
	if v.Role == "" && role == nil && v.CreateTime == v.LastTime || role != nil && *role == "" {
		role = &p.NewRole // of people whose groups give none
	}
	kept, err := a.store.Identities.SetRole(
		ctx, v, role, in.Groups, a.accounts.ranks(p.Tenant), p.act(ActGroups, v.User, address),
	)
	if err != nil {
		return User{}, err
	}
	if kept {
		a.logger.Warn("the role stays: it is the last owner, or the last with a password", "tenant", p.Tenant,
			"user", v.User, "provider", p.Key())
	}
	members, err := a.store.Members.OfUser(ctx, v.User)
	switch {
	case err != nil:
		return User{}, err
	case len(members) == 0:
		return User{}, ErrUnlinked
	}
	switch own := OwnTenant(members); {
	case own.Tenant != p.Tenant:
		return User{}, ErrOtherTenant
	case own.Role == "":
		return User{}, ErrNoRole
	}
	return a.store.Users.Get(ctx, v.User)
}

// Link lets a person of a provider, whose client has a network address, sign in as a user, who has
// proved a password. Errors: [ErrOtherTenant], and those of [Error].
func (a *Identities) Link(
	ctx context.Context, p TenantProvider, user User, in Arrival, address string,
) (User, error) {
	members, err := a.store.Members.OfUser(ctx, user.ID)
	if err != nil {
		return User{}, err
	}
	if len(members) == 0 || OwnTenant(members).Tenant != p.Tenant {
		return User{}, ErrOtherTenant
	}
	v := store.Identity{Tenant: p.Tenant, Issuer: in.Issuer, Subject: in.Subject, User: user.ID, Provider: p.ID}
	v, err = a.store.Identities.Link(store.WithAudit(ctx, p.act(ActLink, user.ID, address)), v, nil)
	if errors.Is(err, ErrExists) {
		return User{}, Refuse(CodeExists, "this sign-in belongs to an account already")
	}
	if err != nil {
		return User{}, err
	}
	return a.enter(ctx, p, v, in, address)
}

// Seal returns a text that only hosts of this database read; see [Identities.Open].
func (a *Identities) Seal(purpose string, v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return a.store.Identities.Seal(purpose, data)
}

// Open reads a text of [Identities.Seal] for the same purpose. Errors: [ErrNotFound].
func (a *Identities) Open(purpose, text string, v any) error {
	data, err := a.store.Identities.Open(purpose, text)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// Now returns the time.
func (a *Identities) Now() time.Time { return a.accounts.now() }
