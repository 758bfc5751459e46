package runs

import (
	"encoding/json"

	"github.com/easel-canvas/easel/engine"
)

// Principal is who started a run, as the host has authenticated it. It is the value of
// sys.principal, and part of the record of the run.
type Principal struct {
	Kind string `json:"kind"` // one of the constants below
	ID   string `json:"id"`   // of the key, user, embed token, canvas of the webhook, or schedule; see ByHost
	User string `json:"user"` // the member whose key or login it is; "" for others
	// EndUser is the user of an embedding site, as the site has signed it; "" for others.
	EndUser string `json:"end_user"`
}

// Kinds of principals.
const (
	ByKey       = "key"
	ByLogin     = "login"
	ByEmbed     = "embed"
	ByWebhook   = "webhook"
	ByScheduler = "schedule"
)

// value returns the principal as sys.principal.
func (p Principal) value() engine.Value {
	if p.Kind == "" {
		return engine.Null
	}
	return engine.Object("kind", p.Kind, "id", p.ID, "user", p.User, "end_user", p.EndUser)
}

// record returns the principal as the records store has it.
func (p Principal) record() string {
	if p.Kind == "" {
		return ""
	}
	text, _ := json.Marshal(p) // texts only, so it cannot fail
	return string(text)
}

// PrincipalOf reads the principal of a recorded run.
func PrincipalOf(record string) Principal {
	var p Principal
	_ = json.Unmarshal([]byte(record), &p) // written by record
	return p
}

// Key returns the id of the API key whose limits a run has; "" for none.
func (p Principal) Key() string {
	if p.Kind == ByKey || p.Kind == ByHost {
		return p.ID
	}
	return ""
}

// Runner returns the member who started a run, or another principal as kind and id.
func (p Principal) Runner() string {
	if p.User != "" || p.Kind == "" {
		return p.User
	}
	return p.Kind + ":" + p.ID
}

// Knows reports whether a user id is one that the host has authenticated, and not only what the
// sender of the request claimed.
func (p Principal) Knows(user string) bool {
	return user != "" && (user == p.User || user == p.EndUser)
}
