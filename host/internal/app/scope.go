package app

import (
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Scopes of keys and logins. Those of the host work for the tenant that operates it only.
const (
	ScopeRead       = "read"
	ScopeRun        = "run"
	ScopeEdit       = "edit"
	ScopeAdmin      = "admin"
	ScopeHost       = "host"
	ScopeMetrics    = "metrics"
	ScopeReadTraces = "read_traces"
)

// ScopeTerms are all scopes that a key can have, with what they allow. The reference of the API,
// the help of the command and the page show this table.
func ScopeTerms() []engine.Term {
	return []engine.Term{
		{Word: ScopeRead, Doc: "read canvases, sessions, runs with their messages, datasets and memories; search"},
		{Word: ScopeRun, Doc: "run canvases, answer forms and approvals, use models and tools, upload files"},
		{
			Word: ScopeEdit,
			Doc:  "change and publish canvases, datasets, memories, secrets, MCP servers and schedules",
		},
		{Word: ScopeAdmin, Doc: "manage users, keys, model providers and limits of plugins; see the usage"},
		{Word: ScopeHost, Doc: "manage the tenants of the host; see its state"},
		{Word: ScopeMetrics, Doc: "read the numbers of the host at /metrics"},
		{Word: ScopeReadTraces, Doc: "read what happened inside runs: inputs and outputs of nodes, calls of tools"},
	}
}

// Scopes are all that a key can have.
var Scopes = func() (names []string) {
	for _, t := range ScopeTerms() {
		names = append(names, t.Word)
	}
	return names
}()

// Scopes of keys that are made without a list: through the API and the command, and through the
// dialects of RAGFlow, whose clients edit agents and datasets with any key.
var (
	KeyScopes     = []string{ScopeRead, ScopeRun}
	RAGFlowScopes = []string{ScopeRead, ScopeRun, ScopeEdit}
)

// embedScopes are the scopes of the token of an embedded page, for its canvas.
var embedScopes = []string{ScopeRead, ScopeRun}

// OfHost reports whether a scope is about the host, not about a tenant.
func OfHost(scope string) bool { return scope == ScopeHost || scope == ScopeMetrics }

// Roles of members of a tenant.
const (
	RoleOwner  = "owner"
	RoleAdmin  = "admin"
	RoleNormal = "normal"
)

// roleRanks orders roles by what they may do to each other: a member changes none of a higher role.
var roleRanks = map[string]int{RoleNormal: 1, RoleAdmin: 2, RoleOwner: 3}

// roleScopes are the scopes of members in the tenant that operates the host. Only its owners
// operate it, since the scope host can make keys of the owners of all tenants.
var roleScopes = map[string][]string{
	RoleNormal: {ScopeRead, ScopeRun, ScopeEdit, ScopeReadTraces},
	RoleAdmin:  {ScopeRead, ScopeRun, ScopeEdit, ScopeAdmin, ScopeReadTraces},
	RoleOwner:  Scopes,
}

// operator is the tenant that operates the host, "" for none.
type operator string

// in returns those of some scopes that count in a tenant.
func (o operator) in(tenant string, scopes []string) []string {
	out := slices.Clone(scopes)
	if tenant == string(o) && tenant != "" {
		return out
	}
	return slices.DeleteFunc(out, OfHost)
}

// scopesOf returns what a member of a tenant in a role may do; nothing in an unknown role.
func (o operator) scopesOf(tenant, role string) []string { return o.in(tenant, roleScopes[role]) }

// CheckScopes refuses a list of scopes that is empty, or has one that does not exist.
func CheckScopes(scopes []string) error {
	for _, s := range scopes {
		if !slices.Contains(Scopes, s) {
			return BadArgument("unknown scope %.40q; known are %s", s, strings.Join(Scopes, ", "))
		}
	}
	if len(scopes) == 0 {
		return BadArgument("scopes is empty, so the key could do nothing; name some of %s, or leave scopes out",
			strings.Join(Scopes, ", "))
	}
	return nil
}
