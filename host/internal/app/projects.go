package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/memories"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Projects are the projects of tenants, and the roles that members have in them and on single
// canvases and datasets. Package access decides what the roles may.
type Projects struct{ store *store.Store }

type (
	// Project holds canvases, datasets, memories and secrets.
	Project = store.Project
	// RoleGrant is a role that a subject was given on an object.
	RoleGrant = store.Grant
)

// longestProject bounds the characters of the name of a project, and mostGrants the grants on one
// object.
const (
	longestProject = 100
	mostGrants     = 1000
)

// Viewing returns a principal with the roles that it has been given. Errors: of the store.
func (s *Projects) Viewing(ctx context.Context, who Principal) (Principal, error) {
	of := store.Subject{Tenant: who.Tenant, User: who.User, Groups: who.Groups}
	switch {
	case who.Embeds:
		of.User = who.embedder
		var err error
		if of.Groups, err = s.store.Groups.Of(ctx, who.Tenant, who.embedder); err != nil {
			return who, err
		}
	case who.Key != nil:
		of.Key = who.Key.ID
	}
	if of.User == "" && of.Key == "" {
		return who, nil
	}
	v, err := s.store.Projects.Viewer(ctx, of)
	who.grants = v.Grants
	return who, err
}

// ProjectRole is a project with the role of the caller.
type ProjectRole struct {
	Project
	Role access.Role
}

// List returns the projects in which a principal has a role, the default one first.
func (s *Projects) List(ctx context.Context, who Principal) ([]ProjectRole, error) {
	all, err := s.store.Projects.List(ctx, who.Tenant)
	if err != nil {
		return nil, err
	}
	var out []ProjectRole
	for _, v := range append([]Project{{Tenant: who.Tenant}}, all...) {
		if role := who.Viewer().InProject(v.ID); role > access.None {
			out = append(out, ProjectRole{v, role})
		}
	}
	return out, nil
}

// administers refuses a principal that does not administer the tenant: a key that is limited to a
// project does not.
func administers(who Principal) error {
	if _, limited := who.grants.Limit(); limited || !who.Viewer().EachProject() {
		return Forbidden("only owners and admins of the tenant create projects")
	}
	return nil
}

func projectName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if n := len([]rune(name)); n == 0 || n > longestProject {
		return "", &Error{CodeBadArgument, "name must have 1 to 100 characters", "name"}
	}
	return name, nil
}

// Create adds a project. Errors: [ErrExists] for the name, those of [Error].
func (s *Projects) Create(ctx context.Context, who Principal, name string) (Project, error) {
	if err := administers(who); err != nil {
		return Project{}, err
	}
	name, err := projectName(name)
	if err != nil {
		return Project{}, err
	}
	return s.store.Projects.Create(ctx, Project{Tenant: who.Tenant, Name: name})
}

// Rename renames a project. Errors: [ErrExists] for the name, those of [Error].
func (s *Projects) Rename(ctx context.Context, who Principal, id, name string) (Project, error) {
	if _, err := s.object(ctx, who, access.Object{Kind: access.Project, ID: id}); err != nil {
		return Project{}, err
	}
	name, err := projectName(name)
	if err != nil {
		return Project{}, err
	}
	v, err := s.store.Projects.Rename(ctx, who.Tenant, id, name)
	return v, missing(err, "project")
}

// Delete removes a project. What it holds moves to the project to, in which the principal may make
// objects; with nil it must hold nothing. Errors: those of [Error].
func (s *Projects) Delete(ctx context.Context, who Principal, id string, to *string) error {
	if _, err := s.object(ctx, who, access.Object{Kind: access.Project, ID: id}); err != nil {
		return err
	}
	if to != nil {
		if *to == id {
			return &Error{CodeBadArgument, "what the project holds must move to another one", "move_to"}
		}
		if err := s.Place(ctx, who, *to); err != nil {
			return err
		}
	}
	err := s.store.Projects.Delete(ctx, who.Tenant, id, to)
	if errors.Is(err, ErrConflict) {
		return Refuse(CodeNotEmpty, "the project holds canvases, datasets, memories or secrets; move or delete them")
	}
	return missing(err, "project")
}

func noRolesOn(kind access.Kind) error {
	return BadArgument("roles are given on a project, a canvas or a dataset, not on %.40q", kind)
}

// object finds what a grant is for, as far as a principal may do what its request does with it.
// Errors: those of [Error].
func (s *Projects) object(ctx context.Context, who Principal, o access.Object) (access.Object, error) {
	o.Tenant = who.Tenant
	var err error
	switch o.Kind {
	case access.Project:
		o.Project, o.Team = o.ID, true
		if o.ID != "" {
			_, err = s.store.Projects.Get(ctx, who.Tenant, o.ID)
		}
	case access.Canvas:
		var v store.Revision
		v, err = s.store.Canvases.Revision(ctx, who.Tenant, o.ID)
		o = v.Access
	case access.Dataset:
		var v store.Dataset
		v, err = s.store.Datasets.Get(ctx, who.Tenant, o.ID)
		o = v.Access()
	case access.Memory:
		var v store.Memory
		if v, err = s.store.Memories.Get(ctx, who.Tenant, o.ID); err == nil {
			o, err = memories.AccessOf(v)
		}
	default:
		return o, noRolesOn(o.Kind)
	}
	if err == nil {
		err = who.Check(who.Act, o)
	}
	return o, missing(err, string(o.Kind))
}

// Grants returns the grants on an object. Errors: those of [Error].
func (s *Projects) Grants(ctx context.Context, who Principal, o access.Object) ([]RoleGrant, error) {
	if _, err := s.object(ctx, who, o); err != nil {
		return nil, err
	}
	return s.store.Projects.Grants(ctx, who.Tenant, o.Key())
}

// Grant adds or replaces a role on an object. Errors: those of [Error].
func (s *Projects) Grant(
	ctx context.Context, who Principal, o access.Object, subject, role string,
) (RoleGrant, error) {
	if o.Kind == access.Memory { // it has the roles of its project only
		return RoleGrant{}, noRolesOn(o.Kind)
	}
	if _, err := s.object(ctx, who, o); err != nil {
		return RoleGrant{}, err
	}
	rank, err := access.ParseRole(role)
	if err != nil {
		return RoleGrant{}, &Error{CodeBadArgument, err.Error(), "role"}
	}
	if err := s.checkSubject(ctx, who.Tenant, subject); err != nil {
		return RoleGrant{}, err
	}
	all, err := s.store.Projects.Grants(ctx, who.Tenant, o.Key())
	if err != nil {
		return RoleGrant{}, err
	}
	given := slices.ContainsFunc(all, func(v RoleGrant) bool { return v.Subject == subject })
	if len(all) >= mostGrants && !given {
		return RoleGrant{}, Refuse(CodeTooMany, "this %s has %d grants, the most there can be; use a group", o.Kind,
			len(all))
	}
	return s.store.Projects.Grant(ctx, RoleGrant{
		Tenant: who.Tenant, Subject: subject, Object: o.Key(), Role: rank, By: who.User,
	})
}

// checkSubject refuses a subject that is no member, key or group.
func (s *Projects) checkSubject(ctx context.Context, tenant, subject string) error {
	kind, id, _ := strings.Cut(subject, ":")
	known := id != ""
	var err error
	switch kind + ":" {
	case store.UserSubject:
		known, err = s.store.Members.Has(ctx, tenant, id)
	case store.KeySubject:
		if _, err = s.store.Keys.Get(ctx, tenant, id); errors.Is(err, ErrNotFound) {
			known, err = false, nil
		}
	case store.GroupSubject:
		known = access.GroupName(id)
	default:
		known = false
	}
	if err == nil && !known {
		err = &Error{CodeBadArgument, "subject must be user:ID of a member, key:ID of a key or group:NAME", "subject"}
	}
	return err
}

// Revoke ends a grant. Errors: those of [Error].
func (s *Projects) Revoke(ctx context.Context, who Principal, o access.Object, subject string) error {
	if _, err := s.object(ctx, who, o); err != nil {
		return err
	}
	return missing(s.store.Projects.Revoke(ctx, who.Tenant, subject, o.Key()), "grant")
}

// Place refuses a project in which a principal may not make objects. Errors: those of [Error].
func (s *Projects) Place(ctx context.Context, who Principal, project string) error {
	who.Act = access.Edit
	_, err := s.object(ctx, who, access.Object{Kind: access.Project, ID: project})
	return err
}

// move refuses a change of an object that takes it to another project, or shares it with its
// project, unless a principal may do that. Errors: those of [Error].
func (s *Projects) move(ctx context.Context, who Principal, old, next access.Object) error {
	if old.Project == next.Project && old.Team == next.Team {
		return nil
	}
	if err := missing(who.Check(access.Delete, old), string(old.Kind)); err != nil {
		return err
	}
	if old.Project == next.Project {
		return nil
	}
	return s.Place(ctx, who, next.Project)
}
