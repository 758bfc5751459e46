package contract

import "strings"

// Asks describes the permissions of p beyond granted to the person who approves them, one line each
// with its reason; empty when granted covers p.
func (p Permissions) Asks(granted Permissions) []string {
	var out []string
	ask := func(one Permissions, reason string) {
		if more := one.Beyond(granted); len(more) > 0 {
			line := strings.Join(more, ", ")
			if reason != "" {
				line += ": " + PrintableLine(reason)
			}
			out = append(out, line)
		}
	}
	if p.HTTP != nil {
		ask(Permissions{HTTP: p.HTTP}, p.HTTP.Reason)
	}
	for _, name := range p.secretNames() {
		s := p.Secrets[name]
		ask(Permissions{Secrets: map[string]SecretPermission{name: s}}, s.Reason)
	}
	if p.LLM != nil {
		ask(Permissions{LLM: p.LLM}, p.LLM.Reason)
	}
	if p.Embed != nil {
		ask(Permissions{Embed: p.Embed}, p.Embed.Reason)
	}
	if p.KV != nil {
		ask(Permissions{KV: p.KV}, p.KV.Reason)
	}
	if p.Variables != nil {
		ask(Permissions{Variables: p.Variables}, p.Variables.Reason)
	}
	if p.Files != nil {
		ask(Permissions{Files: p.Files}, p.Files.Reason)
	}
	if p.Clock != nil {
		ask(Permissions{Clock: p.Clock}, p.Clock.Reason)
	}
	return out
}
