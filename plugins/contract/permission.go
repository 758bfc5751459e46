package contract

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine/stable"
)

// Permissions are the permissions of a plugin. The same type is the request in a manifest, an
// operator's or tenant's ceiling, and the grant, which is their intersection.
// The zero value allows nothing. The tags describe the form that Value writes, for documentation
// that is derived from the type.
type Permissions struct {
	HTTP      *HTTPPermission             `json:"http,omitempty"`
	Secrets   map[string]SecretPermission `json:"secrets,omitempty"`
	LLM       *CountPermission            `json:"llm,omitempty"`
	Embed     *CountPermission            `json:"embed,omitempty"`
	KV        *KVPermission               `json:"kv,omitempty"`
	Variables *VariablePermission         `json:"variables,omitempty"`
	Files     *FilesPermission            `json:"files,omitempty"`
	Clock     *ClockPermission            `json:"clock,omitempty"`
}

// HTTPPermission allows requests. Hosts are patterns, see [CoversHost]. No Methods means GET and
// HEAD. Private allows addresses in private and special ranges.
type HTTPPermission struct {
	Hosts   []string `json:"hosts"`
	Methods []string `json:"methods,omitempty"`
	Private bool     `json:"private,omitempty"`
	Reason  string   `json:"reason,omitempty"`
}

// SecretPermission lets the host insert a secret into requests to Hosts: over https, and without a
// port in the pattern to the usual one only. Plain allows http, too, which requests to this machine
// do not need.
type SecretPermission struct {
	Hosts  []string `json:"hosts"`
	Plain  bool     `json:"plain,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// CountPermission allows MaxCalls calls of a model in one call of the plugin.
type CountPermission struct {
	MaxCalls int    `json:"max_calls"`
	Reason   string `json:"reason,omitempty"`
}

// KVPermission allows Bytes of keys and values.
type KVPermission struct {
	Bytes  int64  `json:"bytes"`
	Reason string `json:"reason,omitempty"`
}

// VariablePermission names the variables of the run that a plugin may read and write. In a ceiling
// * means all of them.
type VariablePermission struct {
	Read   []string `json:"read,omitempty"`
	Write  []string `json:"write,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// FilesPermission allows reading files whose ids are passed to the plugin, and storing at most
// WriteBytes in one call.
type FilesPermission struct {
	Read       bool   `json:"read,omitempty"`
	WriteBytes int64  `json:"write_bytes,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

// ClockPermission lets a plugin read clocks at the resolution of its host instead of 1 ms.
type ClockPermission struct {
	Precise bool   `json:"precise"`
	Reason  string `json:"reason,omitempty"`
}

// Everything returns the ceiling that allows all permissions.
func Everything() Permissions {
	const many = 1 << 30
	all := []string{"*"}
	return Permissions{
		HTTP:    &HTTPPermission{Hosts: all, Methods: all, Private: true},
		Secrets: map[string]SecretPermission{"*": {Hosts: all, Plain: true}},
		LLM:     &CountPermission{MaxCalls: many}, Embed: &CountPermission{MaxCalls: many},
		KV: &KVPermission{Bytes: 1 << 60}, Variables: &VariablePermission{Read: all, Write: all},
		Files: &FilesPermission{Read: true, WriteBytes: 1 << 60}, Clock: &ClockPermission{Precise: true},
	}
}

// Allow adds a list of permissions, as users write it, to a ceiling: all, none, http, http:HOST,
// secrets, secrets:NAME, llm, embed, kv, variables, files or clock.
func Allow(words []string) (Permissions, error) {
	all, out := Everything(), Permissions{}
	for _, word := range words {
		kind, what, narrow := strings.Cut(strings.TrimSpace(word), ":")
		if narrow && (what == "" || kind != "http" && kind != "secrets") {
			return out, fmt.Errorf("permission %q: only http:HOST and secrets:NAME are narrower than their kind", word)
		}
		switch kind {
		case "all":
			return all, nil
		case "none", "":
		case "http":
			if out.HTTP == nil {
				out.HTTP = &HTTPPermission{Methods: all.HTTP.Methods, Private: true}
			}
			out.HTTP.Hosts = append(out.HTTP.Hosts, cmp.Or(what, "*"))
		case "secrets":
			if out.Secrets == nil {
				out.Secrets = map[string]SecretPermission{}
			}
			out.Secrets[cmp.Or(what, "*")] = all.Secrets["*"]
		case "llm":
			out.LLM = all.LLM
		case "embed":
			out.Embed = all.Embed
		case "kv":
			out.KV = all.KV
		case "variables":
			out.Variables = all.Variables
		case "files":
			out.Files = all.Files
		case "clock":
			out.Clock = all.Clock
		default:
			const known = "all, none, http, http:HOST, secrets, secrets:NAME, llm, embed, kv, variables, files or clock"
			return out, fmt.Errorf("permission %q: want %s", word, known)
		}
	}
	return out, nil
}

// Cut returns the intersection of p and ceiling. It has the reasons of p.
func (p Permissions) Cut(ceiling Permissions) Permissions {
	var out Permissions
	if a, b := p.HTTP, ceiling.HTTP; a != nil && b != nil {
		hosts, methods := cutHosts(a.Hosts, b.Hosts), cutNames(a.AllowedMethods(), b.AllowedMethods())
		if len(hosts) > 0 && len(methods) > 0 {
			out.HTTP = &HTTPPermission{
				Hosts: hosts, Methods: methods, Private: a.Private && b.Private,
				Reason: a.Reason,
			}
		}
	}
	for name, a := range p.Secrets {
		b, ok := ceiling.Secrets[name]
		if !ok {
			b = ceiling.Secrets["*"]
		}
		if hosts := cutHosts(a.Hosts, b.Hosts); len(hosts) > 0 {
			if out.Secrets == nil {
				out.Secrets = map[string]SecretPermission{}
			}
			out.Secrets[name] = SecretPermission{Hosts: hosts, Plain: a.Plain && b.Plain, Reason: a.Reason}
		}
	}
	out.LLM, out.Embed = cutCount(p.LLM, ceiling.LLM), cutCount(p.Embed, ceiling.Embed)
	if a, b := p.KV, ceiling.KV; a != nil && b != nil && min(a.Bytes, b.Bytes) > 0 {
		out.KV = &KVPermission{Bytes: min(a.Bytes, b.Bytes), Reason: a.Reason}
	}
	if a, b := p.Variables, ceiling.Variables; a != nil && b != nil {
		read, write := cutNames(a.Read, b.Read), cutNames(a.Write, b.Write)
		if len(read)+len(write) > 0 {
			out.Variables = &VariablePermission{Read: read, Write: write, Reason: a.Reason}
		}
	}
	if a, b := p.Files, ceiling.Files; a != nil && b != nil {
		files := FilesPermission{Read: a.Read && b.Read, WriteBytes: min(a.WriteBytes, b.WriteBytes), Reason: a.Reason}
		if files.Read || files.WriteBytes > 0 {
			out.Files = &files
		}
	}
	if p.PreciseClock() && ceiling.PreciseClock() {
		out.Clock = p.Clock
	}
	return out
}

// Beyond lists what p allows and granted does not, as text for an operator;
// empty when granted covers p.
func (p Permissions) Beyond(granted Permissions) []string {
	left := p.Cut(granted)
	var out []string
	if p.HTTP != nil {
		have := left.HTTP
		if have == nil {
			have = &HTTPPermission{}
		}
		out = append(out, missing("http to ", p.HTTP.Hosts, have.Hosts)...)
		out = append(out, missing("http method ", p.HTTP.AllowedMethods(), have.methodsOrNone())...)
		if p.HTTP.Private && !have.Private {
			out = append(out, "http to private addresses")
		}
	}
	for _, name := range p.secretNames() {
		out = append(out, missing("secret "+name+" for ", p.Secrets[name].Hosts, left.Secrets[name].Hosts)...)
		if p.Secrets[name].Plain && !left.Secrets[name].Plain {
			out = append(out, "secret "+name+" without encryption")
		}
	}
	out = append(out, beyondCount("llm", p.LLM, left.LLM)...)
	out = append(out, beyondCount("embed", p.Embed, left.Embed)...)
	if p.KV != nil && (left.KV == nil || left.KV.Bytes < p.KV.Bytes) {
		out = append(out, fmt.Sprintf("kv of %d bytes", p.KV.Bytes))
	}
	if v := p.Variables; v != nil {
		have := left.Variables
		if have == nil {
			have = &VariablePermission{}
		}
		out = append(out, missing("reading ", v.Read, have.Read)...)
		out = append(out, missing("writing ", v.Write, have.Write)...)
	}
	if f := p.Files; f != nil {
		if f.Read && (left.Files == nil || !left.Files.Read) {
			out = append(out, "reading files")
		}
		if f.WriteBytes > 0 && (left.Files == nil || left.Files.WriteBytes < f.WriteBytes) {
			out = append(out, fmt.Sprintf("storing files of %d bytes", f.WriteBytes))
		}
	}
	if p.PreciseClock() && !left.PreciseClock() {
		out = append(out, "a precise clock")
	}
	return out
}

// PreciseClock reports whether clocks finer than 1 ms are allowed.
func (p Permissions) PreciseClock() bool { return p.Clock != nil && p.Clock.Precise }

// AllowedMethods returns the methods of requests; by default GET and HEAD.
func (h *HTTPPermission) AllowedMethods() []string {
	if len(h.Methods) == 0 {
		return []string{"GET", "HEAD"}
	}
	return h.Methods
}

// secretNames returns the names of Secrets, sorted.
func (p Permissions) secretNames() []string {
	return stable.Strings(slices.Collect(maps.Keys(p.Secrets)))
}

func (h *HTTPPermission) methodsOrNone() []string {
	if len(h.Hosts) == 0 {
		return nil
	}
	return h.AllowedMethods()
}

func missing(what string, want, have []string) []string {
	var out []string
	for _, w := range want {
		if !slices.Contains(have, w) {
			out = append(out, what+w)
		}
	}
	return out
}

func beyondCount(what string, want, have *CountPermission) []string {
	if want == nil || have != nil && have.MaxCalls >= want.MaxCalls {
		return nil
	}
	return []string{fmt.Sprintf("%d calls of %s", want.MaxCalls, what)}
}

func cutCount(a, b *CountPermission) *CountPermission {
	if a == nil || b == nil || min(a.MaxCalls, b.MaxCalls) <= 0 {
		return nil
	}
	return &CountPermission{MaxCalls: min(a.MaxCalls, b.MaxCalls), Reason: a.Reason}
}

// cutNames returns the names in both lists; * means every name.
func cutNames(a, b []string) []string {
	return cut(a, b, func(pattern, name string) bool { return pattern == "*" || pattern == name })
}

func cutHosts(a, b []string) []string { return cut(a, b, CoversHost) }

// cut returns the patterns of each list that a pattern of the other covers.
func cut(a, b []string, covers func(pattern, name string) bool) []string {
	var out []string
	keep := func(from, by []string) {
		for _, name := range from {
			if !slices.Contains(out, name) && slices.ContainsFunc(by, func(p string) bool { return covers(p, name) }) {
				out = append(out, name)
			}
		}
	}
	keep(a, b)
	keep(b, a)
	return out
}
