// Package access decides which objects of a tenant a member may use: datasets, memories and
// canvases, with all that belongs to them.
//
// [Viewer.May] is the only rule. Package store has the same one as a condition of queries, so that
// lists and their counts leave out what a viewer may not use. Roles of projects are to be decided
// here too. Models, secrets, MCP servers, plugins and uploaded files belong to the tenant.
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
}

// Object belongs to a member, who may share it with the tenant.
type Object struct {
	Tenant string
	Owner  string // "" means that it belongs to the tenant
	Team   bool   // shared with the tenant
}

// May reports whether a viewer may use an object.
func (v Viewer) May(o Object) bool {
	if v.Tenant == "" || v.Tenant != o.Tenant {
		return false
	}
	return v.Whole || o.Team || o.Owner == "" || o.Owner == v.User
}

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
