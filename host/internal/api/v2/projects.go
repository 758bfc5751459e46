package v2

import (
	"context"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// projects hold canvases, datasets, memories and secrets, with the roles of members on them.
type projects struct{ *app.Services }

func (p projects) operations() []operation {
	const read, edit = app.ScopeRead, app.ScopeEdit
	const all, one, grants = "/api/v2/projects", "/api/v2/projects/{project}", "/api/v2/grants"
	return []operation{
		handle(operation{
			method: "GET", path: all, body: api.BodyNone, scope: read, name: "listProjects",
			about: "List the projects in which the caller has a role, the default project first. Its id is empty.",
		}, p.list),
		handle(operation{
			method: "POST", path: all, body: api.BodyTiny, scope: app.ScopeAdmin, name: "createProject",
			status: created,
			about:  "Create a project. Only owners and admins of the tenant have a role in it at first.",
		}, p.add),
		handle(operation{
			method: "PUT", path: one, body: api.BodyTiny, scope: edit, name: "renameProject",
			about: "Rename a project. Needs the role admin in it.",
		}, p.rename),
		handle(operation{
			method: "GET", path: one, body: api.BodyNone, scope: edit, name: "getProject",
			about: "Get a project with the numbers of what it holds. Needs the role admin in it.",
		}, p.get),
		handle(operation{
			method: "DELETE", path: one, body: api.BodyTiny, scope: edit, name: "deleteProject",
			about: "Delete a project with the roles in it. It must hold nothing, unless move_to names the project " +
				"that gets what it holds. Needs the role admin in it, and editor in the other.",
		}, p.remove),
		handle(operation{
			method: "GET", path: "/api/v2/access", body: api.BodyNone, scope: read, name: "listAccess",
			about: "List who has which role on a project, a canvas, a dataset or a memory, and through what. " +
				"Groups and keys are named, not their members and users.",
		}, p.access),
		handle(operation{
			method: "GET", path: grants, body: api.BodyNone, scope: read, name: "listGrants",
			about: "List the roles that were given on a project, a canvas or a dataset.",
		}, p.grants),
		handle(operation{
			method: "PUT", path: grants, body: api.BodyTiny, scope: edit, name: "putGrant",
			about: "Give a role on a project, a canvas or a dataset, which replaces the former role of the subject. " +
				"Needs the role admin on it.",
		}, p.grant),
		handle(operation{
			method: "DELETE", path: grants, body: api.BodyTiny, scope: edit, name: "deleteGrant",
			about: "Take back a role that was given. Needs the role admin on the object.",
		}, p.revoke),
	}
}

type projectView struct {
	ID      string     `json:"id" jsonschema:"empty for the default project"`
	Name    string     `json:"name" jsonschema:"empty for the default project"`
	Role    string     `json:"role" jsonschema:"of the caller: viewer, runner, reviewer, editor or admin"`
	Created *time.Time `json:"created,omitempty"`
}

type projectInput struct {
	Name string `json:"name"`
}

func projectViewOf(v app.Project, role access.Role) projectView {
	return projectView{v.ID, v.Name, role.String(), timeOrNil(v.CreateTime)}
}

func (p projects) list(ctx context.Context, in byTenant) (list[projectView], error) {
	all, err := p.Projects.List(ctx, in.Who)
	out := list[projectView]{Items: make([]projectView, len(all))}
	for i, v := range all {
		out.Items[i] = projectViewOf(v.Project, v.Role)
	}
	return out, err
}

type addProject struct {
	Who  app.Principal
	Body projectInput
}

func (p projects) add(ctx context.Context, in addProject) (projectView, error) {
	v, err := p.Projects.Create(ctx, in.Who, in.Body.Name)
	return projectViewOf(v, access.Admin), err
}

type renameProject struct {
	Who     app.Principal
	Project string `path:"project"`
	Body    projectInput
}

func (p projects) rename(ctx context.Context, in renameProject) (projectView, error) {
	v, err := p.Projects.Rename(ctx, in.Who, in.Project, in.Body.Name)
	return projectViewOf(v, access.Admin), err
}

type projectByID struct {
	Who     app.Principal
	Project string `path:"project"`
}

type projectHolds struct {
	projectView
	Holds struct {
		Canvases int `json:"canvases"`
		Datasets int `json:"datasets"`
		Memories int `json:"memories"`
		Secrets  int `json:"secrets"`
	} `json:"holds"`
	Grants int `json:"grants" jsonschema:"number of roles that were given in it"`
	Keys   int `json:"keys" jsonschema:"number of keys that are limited to it; without it they use nothing"`
}

func (p projects) get(ctx context.Context, in projectByID) (projectHolds, error) {
	h, v, err := p.Projects.Holds(ctx, in.Who, in.Project)
	out := projectHolds{projectView: projectViewOf(v.Project, v.Role), Grants: h.Grants, Keys: h.Keys}
	out.Holds.Canvases, out.Holds.Datasets = h.Canvases, h.Datasets
	out.Holds.Memories, out.Holds.Secrets = h.Memories, h.Secrets
	return out, err
}

type deleteProject struct {
	Who     app.Principal
	Project string  `path:"project"`
	MoveTo  *string `query:"move_to" jsonschema:"id of the project that gets what this one holds; empty for the default project"`
}

func (p projects) remove(ctx context.Context, in deleteProject) (empty, error) {
	return empty{}, p.Projects.Delete(ctx, in.Who, in.Project, in.MoveTo)
}

type accessView struct {
	Shared  bool         `json:"shared" jsonschema:"whether the roles in its project count for it"`
	Project string       `json:"project" jsonschema:"id of its project; empty for the default project"`
	Role    string       `json:"role" jsonschema:"of the caller"`
	Items   []holderView `json:"items" jsonschema:"a subject is listed for each way to a role; the strongest counts"`
}

type holderView struct {
	Subject string `json:"subject" jsonschema:"user:ID, key:ID or group:NAME; empty for each member of the tenant"`
	Name    string `json:"name" jsonschema:"of a person, key or group; empty if it is gone"`
	Role    string `json:"role" jsonschema:"viewer, runner, reviewer, editor or admin"`
	Through string `json:"through" jsonschema:"owner, grant (given on the object), project (given on its project), tenant (owners and admins of the tenant), member (each member, in the default project)"`
}

func (p projects) access(ctx context.Context, in grantsOf) (accessView, error) {
	v, err := p.Projects.Sharing(ctx, in.Who, objectOf(in.Object))
	out := accessView{
		Shared: v.Object.Team || v.Object.Owner == "", Project: v.Object.Project, Role: v.Mine.String(),
		Items: make([]holderView, len(v.Holders)),
	}
	for i, h := range v.Holders {
		out.Items[i] = holderView{h.Subject, h.Name, h.Role.String(), string(h.Through)}
	}
	return out, err
}

type roleView struct {
	Subject string    `json:"subject" jsonschema:"user:ID, key:ID or group:NAME"`
	Object  string    `json:"object" jsonschema:"project:ID, canvas:ID or dataset:ID"`
	Role    string    `json:"role" jsonschema:"viewer, runner, reviewer, editor or admin"`
	By      string    `json:"by" jsonschema:"id of the member who gave it"`
	Given   time.Time `json:"given"`
}

func roleViewOf(v app.RoleGrant) roleView {
	return roleView{v.Subject, v.Object, v.Role.String(), v.By, timeOf(v.CreateTime)}
}

// objectOf reads the name of an object of a grant.
func objectOf(name string) access.Object {
	kind, id, _ := strings.Cut(name, ":")
	return access.Object{Kind: access.Kind(kind), ID: id}
}

type grantsOf struct {
	Who    app.Principal
	Object string `query:"object" jsonschema:"project:ID, canvas:ID or dataset:ID"`
}

func (p projects) grants(ctx context.Context, in grantsOf) (list[roleView], error) {
	all, err := p.Projects.Grants(ctx, in.Who, objectOf(in.Object))
	out := list[roleView]{Items: make([]roleView, len(all))}
	for i, v := range all {
		out.Items[i] = roleViewOf(v)
	}
	return out, err
}

type putRole struct {
	Who  app.Principal
	Body struct {
		Subject string `json:"subject" jsonschema:"user:ID of a member, key:ID of an API key or group:NAME"`
		Object  string `json:"object" jsonschema:"project:ID, canvas:ID or dataset:ID"`
		Role    string `json:"role" jsonschema:"viewer, runner, reviewer, editor or admin"`
	}
}

func (p projects) grant(ctx context.Context, in putRole) (roleView, error) {
	v, err := p.Projects.Grant(ctx, in.Who, objectOf(in.Body.Object), in.Body.Subject, in.Body.Role)
	return roleViewOf(v), err
}

type deleteRole struct {
	Who     app.Principal
	Subject string `query:"subject" jsonschema:"user:ID, key:ID or group:NAME"`
	Object  string `query:"object" jsonschema:"project:ID, canvas:ID or dataset:ID"`
}

func (p projects) revoke(ctx context.Context, in deleteRole) (empty, error) {
	return empty{}, p.Projects.Revoke(ctx, in.Who, objectOf(in.Object), in.Subject)
}
