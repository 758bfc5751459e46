package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Secret describes a secret without its value.
type Secret struct {
	Name       string
	Hosts      []string // patterns of the hosts it may be sent to; empty means any
	CreateTime int64    // Unix milliseconds
	UpdateTime int64    // Unix milliseconds
	Project    string   // whose members may use it; "" is the default project
}

// Secrets has the secrets of tenants.
type Secrets struct{ *database }

// Put seals a value under a name, replacing an earlier one, and binds it to hosts. If hosts
// is nil an earlier binding is kept; an empty list removes it.
func (s Secrets) Put(ctx context.Context, tenant, name string, value []byte, hosts []string) error {
	return s.PutIn(ctx, tenant, name, value, hosts, nil)
}

// PutIn is [Secrets.Put] that moves the secret to a project; nil keeps it where it is.
// Errors: [ErrNotFound] for the project.
func (s Secrets) PutIn(
	ctx context.Context, tenant, name string, value []byte, hosts []string, project *string,
) error {
	if err := checkText("name", name); err != nil {
		return fail(err, "secret")
	}
	sealed, err := s.seal.close(value, "secret", tenant, name)
	if err != nil {
		return fail(err, "secret %q", name)
	}
	const insert = `INSERT INTO secrets (tenant_id, name, sealed, create_time, update_time, hosts, project)
		VALUES ($1, $2, $3, $4, $4, $5, $6)
		ON CONFLICT (tenant_id, name) DO UPDATE SET sealed = excluded.sealed, update_time = excluded.update_time`
	upsert := insert
	if hosts != nil {
		upsert += `, hosts = excluded.hosts`
	}
	in := ""
	if project != nil {
		upsert += `, project = excluded.project`
		in = *project
	}
	bound, err := json.Marshal(append([]string{}, hosts...))
	if err != nil {
		return fail(err, "secret %q", name)
	}
	return s.write(ctx, fmt.Sprintf("secret %q", name), func(ctx context.Context, q querier) error {
		if err := inProject(ctx, q, s.engine, tenant, in); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, upsert, tenant, name, sealed, s.ms(), string(bound), in)
		return err
	})
}

// secretRights make secrets belong to their project.
var secretRights = rights{access.Secret, "name", "''", "1 = 1", "project"}

// Access returns in which project a secret is. Errors: [ErrNotFound].
func (s Secrets) Access(ctx context.Context, tenant, name string) (access.Object, error) {
	o := access.Object{Tenant: tenant, Team: true, Kind: secretRights.kind, ID: name}
	const query = `SELECT project FROM secrets WHERE tenant_id = $1 AND name = $2`
	err := s.read.QueryRowContext(ctx, query, tenant, name).Scan(&o.Project)
	return o, fail(err, "secret %q", name)
}

// List returns the secrets that a viewer sees by name, without values.
func (s Secrets) List(ctx context.Context, v access.Viewer) ([]Secret, error) {
	w := &where{}
	w.equal("tenant_id", v.Tenant)
	w.usable(v, access.ViewerRole, secretRights)
	out, err := queryAll(ctx, s.read, func(r row) (Secret, error) {
		var v Secret
		var hosts string
		if err := r.Scan(&v.Name, &v.CreateTime, &v.UpdateTime, &hosts, &v.Project); err != nil {
			return v, err
		}
		return v, json.Unmarshal([]byte(hosts), &v.Hosts)
	}, `SELECT name, create_time, update_time, hosts, project FROM secrets`+w.String()+` ORDER BY create_time, name`,
		w.args...)
	return out, fail(err, "secrets")
}

// OpenFor is [Secrets.OpenBound] for a viewer who runs something with the secret. Errors:
// [ErrNotFound], also for a secret of a project in which the viewer is no runner.
func (s Secrets) OpenFor(ctx context.Context, v access.Viewer, name string) (value []byte, hosts []string, err error) {
	whose, err := s.Access(ctx, v.Tenant, name)
	if err == nil && !v.Can(access.Run, whose) {
		err = fail(ErrNotFound, "secret %q", name)
	}
	if err != nil {
		return nil, nil, err
	}
	return s.OpenBound(ctx, v.Tenant, name)
}

// Open returns the value of a secret. It must not appear in responses, events or logs.
//
// Errors: [ErrNotFound], [ErrWrongKey].
func (s Secrets) Open(ctx context.Context, tenant, name string) ([]byte, error) {
	value, _, err := s.OpenBound(ctx, tenant, name)
	return value, err
}

// OpenBound is Open that also returns the patterns of allowed hosts; none means any.
func (s Secrets) OpenBound(ctx context.Context, tenant, name string) (value []byte, hosts []string, err error) {
	var sealed []byte
	var bound string
	const query = `SELECT sealed, hosts FROM secrets WHERE tenant_id = $1 AND name = $2`
	if err := s.read.QueryRowContext(ctx, query, tenant, name).Scan(&sealed, &bound); err != nil {
		return nil, nil, fail(err, "secret %q", name)
	}
	// An unreadable binding must not be treated as unrestricted.
	if err := json.Unmarshal([]byte(bound), &hosts); err != nil {
		return nil, nil, fail(fmt.Errorf("hosts: %w: %w", ErrCorrupt, err), "secret %q", name)
	}
	value, err = s.seal.open(sealed, "secret", tenant, name)
	return value, hosts, fail(err, "secret %q", name)
}

// Delete removes a secret. Errors: [ErrNotFound].
func (s Secrets) Delete(ctx context.Context, tenant, name string) error {
	return s.writeAlways(ctx, fmt.Sprintf("delete secret %q", name), func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, `DELETE FROM secrets WHERE tenant_id = $1 AND name = $2`, tenant, name)
		return changed(res, err, ErrNotFound)
	})
}
