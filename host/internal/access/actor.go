package access

import "strings"

// Actor is the member for whom a run acts: what a canvas names is used with that member's rights.
// The zero value leaves it to the document that runs, see [Actor.On].
type Actor struct {
	User string `json:"user,omitempty"` // "" is no member
	As   As     `json:"as,omitempty"`
}

// As is the reason why a member is the actor of a run.
type As string

// Reasons why a member is the actor of a run.
const (
	Present   As = "present"   // it made the request, by a key or a login
	Publisher As = "publisher" // it published the version that runs
	Author    As = "author"    // it saved the draft that runs unattended
)

// On returns the actor of a run of a document. A published version acts for its publisher,
// unless the run has been altered: with other outputs of nodes it may use by name what the
// publisher did not name. A draft acts for who runs it, or unattended for its author.
func (a Actor) On(document Actor, altered bool) Actor {
	if a.As == Present && (altered || document.As != Publisher) {
		return a
	}
	return document
}

// Text returns the actor as a text that [ParseActor] reads.
func (a Actor) Text() string { return string(a.As) + ":" + a.User }

// ParseActor reads an actor of a document; another text has no member.
func ParseActor(text string) Actor {
	as, user, _ := strings.Cut(text, ":")
	if as := As(as); as == Publisher || as == Author {
		return Actor{user, as}
	}
	return Actor{As: Author}
}

// Unattended reports whether no member asked for the run.
func (a Actor) Unattended() bool { return a.As != Present }

// Inside returns the actor of a canvas that runs inside of a run. A draft of another author gets no
// rights of an actor who is not present: anyone who may edit the draft would get them.
func (a Actor) Inside(document Actor) Actor {
	switch {
	case document.As == Publisher:
		return document
	case a.Unattended():
		a.User = Both(a.User, document.User)
	}
	return a
}
