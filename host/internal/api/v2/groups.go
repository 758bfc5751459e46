package v2

import (
	"cmp"
	"context"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

func (a accounts) groupOperations() []operation {
	const admin = app.ScopeAdmin
	return []operation{
		handle(operation{
			method: "GET", path: "/api/v2/users/{user}/groups", body: api.BodyNone, scope: admin, name: "listGroups",
			about: "List the groups of a user.",
		}, a.listGroups),
		handle(operation{
			method: "PUT", path: "/api/v2/users/{user}/groups", body: api.BodySmall, scope: admin, name: "setGroups",
			about: "Replace the groups that a user has from administrators. Groups from sign-in providers stay. Only " +
				"owners set those of owners.",
		}, a.setGroups),
		handle(operation{
			method: "GET", path: "/api/v2/subjects", body: api.BodyNone, scope: app.ScopeEdit, name: "listSubjects",
			about: "List the members and groups of the tenant that lists of readers and grants of roles can name.",
		}, a.subjects),
	}
}

type groupView struct {
	Name   string `json:"name"`
	Source string `json:"source,omitempty" jsonschema:"the sign-in provider that reported the group; absent if an administrator set it"`
}

type subjectsView struct {
	People []subjectView `json:"people"`
	Groups []string      `json:"groups" jsonschema:"all that members have, from administrators or sign-in providers"`
}

type subjectView struct {
	ID    string `json:"id"`
	Name  string `json:"name" jsonschema:"the nickname, or without one the email"`
	Email string `json:"email"`
}

func (a accounts) subjects(ctx context.Context, in byTenant) (subjectsView, error) {
	users, err := a.Accounts.Users(ctx, in.Who.Tenant)
	if err != nil {
		return subjectsView{}, err
	}
	out := subjectsView{People: make([]subjectView, len(users))}
	for i, u := range users {
		out.People[i] = subjectView{u.ID, cmp.Or(u.Nickname, u.Email), u.Email}
	}
	groups, err := a.Accounts.GroupNames(ctx, in.Who.Tenant)
	out.Groups = append([]string{}, groups...) // an empty list is not null
	return out, err
}

func groupViews(groups []app.Group, err error) (list[groupView], error) {
	out := list[groupView]{Items: make([]groupView, len(groups))}
	for i, g := range groups {
		out.Items[i] = groupView(g)
	}
	return out, err
}

func (a accounts) listGroups(ctx context.Context, in userByID) (list[groupView], error) {
	return groupViews(a.Accounts.Groups(ctx, in.Who, in.ID))
}

type setGroups struct {
	Who  app.Principal
	ID   string `path:"user"`
	Body struct {
		Groups []string `json:"groups" jsonschema:"names of groups, at most 200; an empty list removes all"`
	}
}

func (a accounts) setGroups(ctx context.Context, in setGroups) (list[groupView], error) {
	return groupViews(a.Accounts.SetGroups(ctx, in.Who, in.ID, in.Body.Groups))
}
