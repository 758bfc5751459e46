package app

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Through is the way by which a subject has a role on an object.
type Through string

// Ways to a role, of [Holder].
const (
	ThroughOwner   Through = "owner"   // who has made the object, or got it from a member who has left
	ThroughGrant   Through = "grant"   // given on the object
	ThroughProject Through = "project" // given on its project
	ThroughTenant  Through = "tenant"  // owners and admins of the tenant
	ThroughMember  Through = "member"  // each member, in the default project
)

// Holder has a role on an object.
type Holder struct {
	Subject string // user:ID, key:ID, group:NAME; "" for each member
	Name    string // for people: nickname, address, or name of the key
	Role    access.Role
	Through Through
}

// Sharing is who has which role on an object, and through what.
type Sharing struct {
	Object  access.Object
	Holders []Holder // a subject is named for each way to a role
	Mine    access.Role
}

// Holds counts what a project has. Errors: those of [Error].
func (s *Projects) Holds(ctx context.Context, who Principal, id string) (store.Holding, ProjectRole, error) {
	if _, err := s.object(ctx, who, access.Object{Kind: access.Project, ID: id}); err != nil {
		return store.Holding{}, ProjectRole{}, err
	}
	v, err := s.store.Projects.Get(ctx, who.Tenant, id)
	if err != nil {
		return store.Holding{}, ProjectRole{}, missing(err, "project")
	}
	h, err := s.store.Projects.Holds(ctx, who.Tenant, id)
	return h, ProjectRole{v, who.Viewer().InProject(id)}, err
}

// Sharing returns who has which role on a canvas, a dataset, a memory or a project. Errors: those
// of [Error].
func (s *Projects) Sharing(ctx context.Context, who Principal, o access.Object) (Sharing, error) {
	o, err := s.object(ctx, who, o)
	if err != nil {
		return Sharing{}, err
	}
	out := Sharing{Object: o, Mine: who.Viewer().Role(o)}
	members, err := s.store.Members.List(ctx, who.Tenant)
	if err != nil {
		return out, err
	}
	if err := s.addOwner(ctx, &out, members); err != nil {
		return out, err
	}
	given, err := s.store.Projects.Grants(ctx, who.Tenant, o.Key())
	if err != nil {
		return out, err
	}
	out.add(given, ThroughGrant)
	if o.Team || o.Owner == "" {
		if o.Kind != access.Project {
			of := access.Object{Kind: access.Project, ID: o.Project}
			if given, err = s.store.Projects.Grants(ctx, who.Tenant, of.Key()); err != nil {
				return out, err
			}
			out.add(given, ThroughProject)
		}
		for _, m := range members {
			if m.Role == RoleOwner || m.Role == RoleAdmin {
				out.Holders = append(out.Holders, Holder{
					Subject: store.UserSubject + m.User, Role: access.Admin, Through: ThroughTenant,
				})
			}
		}
		if o.Project == "" {
			out.Holders = append(out.Holders, Holder{Role: access.Editor, Through: ThroughMember})
		}
	}
	return out, s.nameHolders(ctx, who.Tenant, out.Holders)
}

func (v *Sharing) add(given []RoleGrant, through Through) {
	for _, g := range given {
		v.Holders = append(v.Holders, Holder{Subject: g.Subject, Role: g.Role, Through: through})
	}
}

// addOwner adds the owner of an object, who needs a role in the project of a shared one.
func (s *Projects) addOwner(ctx context.Context, v *Sharing, members []Member) error {
	o := v.Object
	if o.Owner == "" || o.Kind == access.Project || !hasMember(members, o.Owner) {
		return nil
	}
	groups, err := s.store.Groups.Of(ctx, o.Tenant, o.Owner)
	if err != nil {
		return err
	}
	of, err := s.store.Projects.Viewer(ctx, store.Subject{Tenant: o.Tenant, User: o.Owner, Groups: groups})
	if err == nil && of.Role(o) == access.Admin {
		v.Holders = append(v.Holders, Holder{
			Subject: store.UserSubject + o.Owner, Role: access.Admin, Through: ThroughOwner,
		})
	}
	return err
}

func hasMember(members []Member, user string) bool {
	for _, m := range members {
		if m.User == user {
			return true
		}
	}
	return false
}

// nameHolders fills in the names of people and keys.
func (s *Projects) nameHolders(ctx context.Context, tenant string, holders []Holder) error {
	names := map[string]string{}
	for i, h := range holders {
		name, known := names[h.Subject]
		if !known {
			var err error
			if name, err = s.subjectName(ctx, tenant, h.Subject); err != nil {
				return err
			}
			names[h.Subject] = name
		}
		holders[i].Name = name
	}
	return nil
}

func (s *Projects) subjectName(ctx context.Context, tenant, subject string) (string, error) {
	kind, id, _ := strings.Cut(subject, ":")
	switch kind + ":" {
	case store.UserSubject:
		u, err := s.store.Users.Get(ctx, id)
		if errors.Is(err, ErrNotFound) {
			return "", nil // deleted since
		}
		return cmp.Or(u.Nickname, u.Email), err
	case store.KeySubject:
		k, err := s.store.Keys.Get(ctx, tenant, id)
		if errors.Is(err, ErrNotFound) {
			return "", nil
		}
		return cmp.Or(k.Name, k.Hint), err
	}
	return id, nil
}
