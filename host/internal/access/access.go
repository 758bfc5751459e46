// Package access decides what a member may do with objects of a tenant: datasets, memories and
// canvases, with all that belongs to them.
//
// [Viewer.Check] is the only rule. Package store has the same one as a condition of queries, so
// that lists and their counts leave out what a viewer may not use. Models, MCP servers, plugins and
// uploaded files belong to the tenant.
package access

// Viewer is on whose behalf objects are used. The zero value may use nothing.
type Viewer struct {
	Tenant string
	// User is a member; "" may use what the whole tenant may use.
	User string
	// Groups that the member is in.
	Groups Groups
	// Whole may use everything of the tenant. It is for work of the host itself, such as the
	// command line of its operator.
	Whole bool
	// Reader is whose documents are read: the caller's, where User is another member for whom a run
	// acts.
	Reader Reader
	// Grants are roles besides those that each member has; nil are none.
	Grants *Grants
}

// Kind is the kind of an object.
type Kind string

// Kinds of objects. A project has roles, which hold for what is in it.
const (
	Canvas  Kind = "canvas"
	Dataset Kind = "dataset"
	Memory  Kind = "memory"
	Secret  Kind = "secret"
	Project Kind = "project"
)

// Object belongs to a member, who may share it with the project.
type Object struct {
	Tenant string
	Owner  string // "" means that it belongs to the project
	Team   bool   // shared with the project

	Kind    Kind
	ID      string
	Project string // "" is the default project, in which each member is an editor
}

// shared reports whether the roles of the project hold for an object.
func (o Object) shared() bool { return o.Team || o.Owner == "" }

// Role returns what a viewer is for an object: the strongest of its roles. The owner of an object
// has all of them, of a shared one as long as it has a role in the project.
func (v Viewer) Role(o Object) Role {
	switch {
	case v.Tenant == "" || v.Tenant != o.Tenant:
		return None
	case v.Whole:
		return Admin
	}
	if only, limited := v.Grants.Limit(); limited && only != o.Project {
		return None
	}
	role, mine := v.Grants.on(o), o.Owner != "" && o.Owner == v.User
	if !o.shared() {
		if mine {
			role = Admin
		}
		return role
	}
	of := v.InProject(o.Project)
	if mine && of > None {
		return Admin
	}
	return max(role, of)
}

// InProject returns the role of a viewer in a project of its tenant.
func (v Viewer) InProject(id string) Role {
	if v.Whole {
		return Admin
	}
	if only, limited := v.Grants.Limit(); limited && only != id {
		return None
	}
	role := v.Grants.in(id)
	if id == "" && role < Editor {
		role = Editor
	}
	return role
}

// Check refuses an action on an object: with [ErrHidden] of an object that a viewer may not see,
// which is like one that does not exist, and else with a [RoleError].
func (v Viewer) Check(a Action, o Object) error {
	has := v.Role(o)
	switch {
	case has == None:
		return ErrHidden
	case has >= a.Needs():
		return nil
	case a == Delete && o.Project == "" && o.shared() && v.InProject("") >= Editor:
		// In the default project members could do this before there were roles.
		return nil
	}
	return &RoleError{Action: a, Kind: o.Kind, Has: has}
}

// May reports whether a viewer sees an object.
func (v Viewer) May(o Object) bool { return v.Role(o) > None }

// Can reports whether a viewer may do something with an object.
func (v Viewer) Can(a Action, o Object) bool { return v.Check(a, o) == nil }

// Both returns the member whose rights remain where two have to agree: an object of one member is
// never the other's, so that two different ones share only what the whole tenant may use.
func Both(a, b string) string {
	if a != b {
		return ""
	}
	return a
}

// All returns the viewer of work of the host itself, which may use everything of a tenant.
func All(tenant string) Viewer {
	return Viewer{Tenant: tenant, Whole: true, Reader: Reader{Whole: true}}
}
