package plugin

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// ABI is the version of the contract this host serves.
const ABI = 1

// maxManifest bounds a manifest, in bytes.
const maxManifest = 256 << 10

// Manifest is what a plugin says about itself; the contract describes the fields.
type Manifest struct {
	ABI         int               `json:"abi"`
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Display     map[string]string `json:"display,omitempty"` // locale -> name
	Category    string            `json:"category,omitempty"`
	Icon        string            `json:"icon,omitempty"` // name of a section
	Description string            `json:"description"`
	License     string            `json:"license,omitempty"`
	MinHost     string            `json:"min_host,omitempty"`
	Params      *Schema           `json:"params,omitempty"`
	Arguments   *Schema           `json:"arguments,omitempty"`
	Outputs     *Schema           `json:"outputs,omitempty"`
	Streams     bool              `json:"streams,omitempty"`
	Idempotent  bool              `json:"idempotent,omitempty"`
	State       State             `json:"state,omitempty"`
	Permissions Permissions       `json:"permissions,omitzero"`
	Limits      Limits            `json:"limits,omitzero"`
	Requires    []string          `json:"requires,omitempty"`
	Preview     string            `json:"preview,omitempty"` // local, server or none
}

// State says who may share an instance.
type State string

// The states. The empty State is StateNone.
const (
	StateNone   State = "none"   // nothing is kept: fresh instances where they are cheap
	StateTenant State = "tenant" // calls of one tenant may share an instance
	StateRun    State = "run"    // the calls of one run share one instance
)

var (
	namePattern    = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
	versionPattern = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	requirePattern = regexp.MustCompile(`^([a-z][a-z0-9_.]*)@([0-9]+)(\?)?$`)
)

// ParseManifest reads and checks a manifest. Errors have the code BadManifest, or
// ABIMismatch for a plugin of another ABI.
func ParseManifest(raw []byte) (*Manifest, error) {
	if len(raw) > maxManifest {
		return nil, fail(BadManifest, "manifest of %d bytes, allowed are %d", len(raw), maxManifest)
	}
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fail(BadManifest, "manifest is not readable: %v", err)
	}
	if err := m.check(); err != nil {
		return nil, err.at(m.Name, "")
	}
	var all any
	if err := json.Unmarshal(raw, &all); err != nil || tricky(all) {
		return nil, fail(BadManifest, "a text holds a control character other than a tab or a line end").at(m.Name, "")
	}
	return &m, nil
}

// tricky reports whether a text in v holds characters that could play tricks in a terminal.
func tricky(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsFunc(v, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' })
	case []any:
		return slices.ContainsFunc(v, tricky)
	case map[string]any:
		for name, e := range v {
			if tricky(name) || tricky(e) {
				return true
			}
		}
	}
	return false
}

func (m *Manifest) check() *Error {
	switch {
	case m.ABI < 1:
		return fail(BadManifest, "abi is missing; write \"abi\": %d", ABI)
	case m.ABI != ABI:
		return fail(ABIMismatch, "made for ABI %d, this host serves ABI %d; use a newer host or build the plugin with an older SDK", m.ABI, ABI)
	case !namePattern.MatchString(m.Name):
		return fail(BadManifest, "name %q: want lower-case letters, digits, - and _, beginning with a letter", m.Name)
	case !versionPattern.MatchString(m.Version):
		return fail(BadManifest, "version %q: want three numbers, as in 1.0.0", m.Version)
	case m.Description == "":
		return fail(BadManifest, "description is missing")
	}
	switch m.State {
	case "", StateNone, StateTenant, StateRun:
	default:
		return fail(BadManifest, "state %q: want none, tenant or run", m.State)
	}
	switch m.Preview {
	case "", "local", "server", "none":
	default:
		return fail(BadManifest, "preview %q: want local, server or none", m.Preview)
	}
	schemas := maxSchemas
	for place, s := range map[string]*Schema{"params": m.Params, "arguments": m.Arguments, "outputs": m.Outputs} {
		if s != nil && (len(s.Type) != 1 || s.Type[0] != "object") {
			return fail(BadManifest, "%s: want a schema of type object", place)
		}
		if err := s.sound(place, 0, &schemas); err != nil {
			return fail(BadManifest, "%s", err)
		}
	}
	if err := m.checkLimits(); err != nil {
		return err
	}
	return m.checkPermissions()
}

func (m *Manifest) checkLimits() *Error {
	l := m.Limits
	if l.MemoryMB < 0 || l.TimeoutMS < 0 || l.OutputKB < 0 || l.Fuel < 0 {
		return fail(BadManifest, "limits must not be negative")
	}
	for _, r := range m.Requires {
		if !requirePattern.MatchString(r) {
			return fail(BadManifest, "requires %q: want name@version, as in http.fetch@1", r)
		}
	}
	return nil
}

// checkPermissions requires a reason for each permission, for the person who grants it.
func (m *Manifest) checkPermissions() *Error {
	p := m.Permissions
	reasons := map[string]string{}
	if p.HTTP != nil {
		reasons["http"] = p.HTTP.Reason
		if len(p.HTTP.Hosts) == 0 {
			return fail(BadManifest, "permissions.http.hosts is empty; list the hosts, or * for any")
		}
	}
	for name, s := range p.Secrets {
		reasons["secrets."+name] = s.Reason
		if len(s.Hosts) == 0 {
			return fail(BadManifest, "permissions.secrets.%s.hosts is empty; a secret is bound to hosts", name)
		}
	}
	for name, c := range map[string]*CountPermission{"llm": p.LLM, "embed": p.Embed} {
		if c != nil {
			reasons[name] = c.Reason
			if c.MaxCalls < 1 {
				return fail(BadManifest, "permissions.%s.max_calls: want at least 1", name)
			}
		}
	}
	if p.KV != nil {
		reasons["kv"] = p.KV.Reason
	}
	if p.Variables != nil {
		reasons["variables"] = p.Variables.Reason
	}
	for name, reason := range reasons {
		if reason == "" {
			return fail(BadManifest, "permissions.%s has no reason; say in a sentence why the plugin needs it", name)
		}
	}
	return nil
}

// operations are what call offers, with their versions.
var operations = map[string]int{
	"http.fetch": 1, "http.read": 1, "http.close": 1, "llm.chat": 1, "embed": 1, "kv.get": 1, "kv.set": 1, "kv.delete": 1, "kv.list": 1,
	"var.get": 1, "var.set": 1, "self.section": 1, "sleep": 1, "emit": 1,
}

// checkHost refuses a plugin that needs more than this host has.
func (m *Manifest) checkHost(version string) *Error {
	if m.MinHost != "" && version != "" && older(version, m.MinHost) {
		return fail(Unsupported, "needs host %s, this is %s; update the host", m.MinHost, version)
	}
	for _, r := range m.Requires {
		part := requirePattern.FindStringSubmatch(r)
		v, err := strconv.Atoi(part[2])
		if part[3] == "?" || err == nil && v <= operations[part[1]] {
			continue
		}
		return fail(Unsupported, "requires %s, which this host does not offer; use a newer host, or write %s? if the plugin can do without", r, r)
	}
	return nil
}

// older compares dotted numbers; what is not a number counts as 0.
func older(have, want string) bool {
	a, b := strings.Split(have, "."), strings.Split(want, ".")
	for i := range b {
		x, y := 0, number(b[i])
		if i < len(a) {
			x = number(a[i])
		}
		if x != y {
			return x < y
		}
	}
	return false
}

func number(s string) int {
	n := 0
	if _, err := fmt.Sscanf(s, "%d", &n); err != nil {
		return 0
	}
	return n
}
