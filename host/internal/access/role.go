package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Role is the rank of a viewer for an object; each role may also do what the weaker ones may.
type Role uint8

// Roles. [RoleTerms] describes them.
const (
	None Role = iota
	ViewerRole
	Runner
	Reviewer
	Editor
	Admin
)

// RoleNames are the words of the roles, from the weakest.
var RoleNames = []string{"viewer", "runner", "reviewer", "editor", "admin"}

func (r Role) String() string {
	if r == None || int(r) > len(RoleNames) {
		return "none"
	}
	return RoleNames[r-1]
}

// ParseRole returns the role of a word.
func ParseRole(word string) (Role, error) {
	if i := slices.Index(RoleNames, word); i >= 0 {
		return Role(i + 1), nil
	}
	return None, fmt.Errorf("unknown role %.40q (one of %s)", word, strings.Join(RoleNames, ", "))
}

// Action is something that a viewer does with an object.
type Action uint8

// Actions.
const (
	See    Action = iota // read an object and its documents
	Run                  // and read own conversations
	Review               // read all conversations of an object
	Edit                 // change and publish
	Delete               // delete, move to another project, and share with the project
	Grant                // give roles
)

// actions has the words and roles of the actions.
var actions = [...]struct {
	does  string
	needs Role
}{
	See: {"reading", ViewerRole}, Run: {"running", Runner}, Review: {"reading the conversations of", Reviewer},
	Edit: {"changing", Editor}, Delete: {"deleting, moving or sharing", Admin}, Grant: {"giving roles on", Admin},
}

// Needs returns the weakest role that may do an action.
func (a Action) Needs() Role { return actions[a].needs }

func (a Action) String() string { return actions[a].does }

// ErrHidden means that a viewer may not see an object, or that it does not exist.
var ErrHidden = errors.New("object not found")

// RoleError refuses an action on an object that the viewer sees.
type RoleError struct {
	Action Action
	Kind   Kind
	Has    Role
}

func (e *RoleError) Error() string {
	return fmt.Sprintf("%s this %s needs the role %s; yours is %s", e.Action, e.Kind, e.Action.Needs(), e.Has)
}
