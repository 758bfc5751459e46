package access

// Grants are the roles of a viewer in projects and on single objects. It does not change.
type Grants struct {
	// Admin is an owner or admin of the tenant, who is admin of each project.
	Admin bool
	// Projects are the roles in projects by id.
	Projects map[string]Role
	// Objects are the roles on canvases and datasets, by their [Object.Key].
	Objects map[string]Role
	// Only limits the viewer to one project; nil does not.
	Only *string
}

// Key names an object in a grant.
func (o Object) Key() string { return string(o.Kind) + ":" + o.ID }

// Limit returns the project to which a viewer is limited.
func (g *Grants) Limit() (project string, limited bool) {
	if g == nil || g.Only == nil {
		return "", false
	}
	return *g.Only, true
}

func (g *Grants) on(o Object) Role {
	if g == nil {
		return None
	}
	return g.Objects[o.Key()]
}

func (g *Grants) in(project string) Role {
	switch {
	case g == nil:
		return None
	case g.Admin:
		return Admin
	}
	return g.Projects[project]
}

// EachProject reports whether a viewer is admin of all projects.
func (v Viewer) EachProject() bool { return v.Whole || v.Grants != nil && v.Grants.Admin }

// ProjectsFor returns the projects in which a viewer has a role or a stronger one.
func (v Viewer) ProjectsFor(least Role) (ids []string) {
	if least <= Editor {
		ids = append(ids, "")
	}
	if v.Grants == nil {
		return ids
	}
	for id, role := range v.Grants.Projects {
		if role >= least && (id != "" || least > Editor) {
			ids = append(ids, id)
		}
	}
	return ids
}

// ObjectsFor returns the ids of objects of a kind on which a viewer has been given a role or a
// stronger one.
func (v Viewer) ObjectsFor(kind Kind, least Role) (ids []string) {
	if v.Grants == nil {
		return nil
	}
	for key, role := range v.Grants.Objects {
		if id, ok := CutKind(key, kind); ok && role >= least {
			ids = append(ids, id)
		}
	}
	return ids
}

// CutKind returns the id in a key of [Object.Key] of a kind.
func CutKind(key string, kind Kind) (id string, ok bool) {
	n := len(kind)
	if len(key) <= n || key[:n] != string(kind) || key[n] != ':' {
		return "", false
	}
	return key[n+1:], true
}

// Partial reports whether a viewer may see objects without reading all their conversations.
func (v Viewer) Partial() bool {
	if v.Grants == nil || v.EachProject() {
		return false
	}
	for _, roles := range []map[string]Role{v.Grants.Projects, v.Grants.Objects} {
		for _, role := range roles {
			if role < Reviewer {
				return true
			}
		}
	}
	return false
}

// Plain reports whether a viewer has the rights of each member only.
func (v Viewer) Plain() bool {
	g := v.Grants
	return !v.Whole && (g == nil || !g.Admin && g.Only == nil && len(g.Projects)+len(g.Objects) == 0)
}
