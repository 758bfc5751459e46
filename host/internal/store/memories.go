package store

import (
	"context"
	"errors"
	"fmt"
)

// ErrMemoryFull means that messages do not fit into their memory.
var ErrMemoryFull = errors.New("memory is full")

// Memory is a named collection of messages that outlive their runs.
type Memory struct {
	ID         string
	Tenant     string
	User       string // its creator
	Project    string // "" is the default project
	Name       string
	Settings   []byte // JSON of the package that uses it
	Size       int64  // bytes of all messages
	Rev        int64  // incremented by each change of name or settings
	CreateTime int64  // Unix milliseconds
	UpdateTime int64  // Unix milliseconds
}

// Memories has the records of memories and their messages.
type Memories struct{ *database }

const memoryColumns = `id, tenant_id, user_id, name, settings, size, rev, create_time, update_time, project`

func scanMemory(r row) (Memory, error) {
	var v Memory
	err := r.Scan(&v.ID, &v.Tenant, &v.User, &v.Name, &v.Settings, &v.Size, &v.Rev, &v.CreateTime, &v.UpdateTime,
		&v.Project)
	return v, err
}

// memoryKey fills the column that once made names unique in a tenant. Names are unique among the
// memories that a user may use, which their caller checks.
func memoryKey(id string) []byte { return []byte("\x00" + id) }

// Create adds a memory. An empty ID is filled in. Errors: [ErrExists] for the id, [ErrInvalid].
func (m Memories) Create(ctx context.Context, v Memory) (Memory, error) {
	if v.ID == "" {
		v.ID = NewID()
	}
	AuditObject(ctx, v.ID)
	v.Rev, v.Size, v.CreateTime = 1, 0, m.ms()
	v.UpdateTime = v.CreateTime
	if err := checkText("id", v.ID, "user", v.User, "name", v.Name); err != nil {
		return Memory{}, fail(err, "memory %q", v.Name)
	}
	const insert = `INSERT INTO memories (` + memoryColumns + `, name_fold, last_id)
		VALUES ($1, $2, $3, $4, $5, 0, 1, $6, $6, $8, $7, 0)`
	err := m.write(ctx, fmt.Sprintf("create memory %q", v.Name), func(ctx context.Context, q querier) error {
		if err := inProject(ctx, q, m.engine, v.Tenant, v.Project); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, insert,
			v.ID, v.Tenant, v.User, v.Name, bytesOf(v.Settings), v.CreateTime, memoryKey(v.ID), v.Project)
		return err
	})
	return v, err
}

// Get returns a memory. Errors: [ErrNotFound].
func (m Memories) Get(ctx context.Context, tenant, id string) (Memory, error) {
	const query = `SELECT ` + memoryColumns + ` FROM memories WHERE tenant_id = $1 AND id = $2`
	v, err := scanMemory(m.read.QueryRowContext(ctx, query, tenant, id))
	return v, fail(err, "memory %q", id)
}

// List returns the memories of a tenant, those changed last first.
func (m Memories) List(ctx context.Context, tenant string) ([]Memory, error) {
	const query = `SELECT ` + memoryColumns + ` FROM memories WHERE tenant_id = $1 ORDER BY update_time DESC, id`
	out, err := queryAll(ctx, m.read, scanMemory, query, tenant)
	return out, fail(err, "list memories")
}

// Update replaces name and settings of the revision that v has, and returns the next one.
// Errors: [ErrConflict], [ErrInvalid].
func (m Memories) Update(ctx context.Context, v Memory) (Memory, error) {
	what := fmt.Sprintf("update memory %q", v.ID)
	if err := checkText("name", v.Name); err != nil {
		return Memory{}, fail(err, "%s", what)
	}
	const update = `UPDATE memories SET name = $3, name_fold = $4, settings = $5, rev = rev + 1, update_time = $6, project = $8
		WHERE tenant_id = $1 AND id = $2 AND rev = $7 RETURNING ` + memoryColumns
	var stored []Memory
	err := m.write(ctx, what, func(ctx context.Context, q querier) (err error) {
		const there = `SELECT 1 FROM memories WHERE tenant_id = $1 AND id = $2 AND project = $3`
		stays, err := exists(ctx, q, there, v.Tenant, v.ID, v.Project)
		if err == nil && !stays {
			err = inProject(ctx, q, m.engine, v.Tenant, v.Project)
		}
		if err != nil {
			return err
		}
		stored, err = queryAll(ctx, q, scanMemory, update,
			v.Tenant, v.ID, v.Name, memoryKey(v.ID), bytesOf(v.Settings), m.ms(), v.Rev, v.Project)
		if err == nil && len(stored) == 0 {
			err = ErrConflict
		}
		return err
	})
	if err != nil {
		return Memory{}, err
	}
	return stored[0], nil
}

// Delete removes a memory with its messages. Errors: [ErrNotFound].
func (m Memories) Delete(ctx context.Context, tenant, id string) error {
	return m.writeAlways(ctx, fmt.Sprintf("delete memory %q", id), func(ctx context.Context, q querier) error {
		// Deleting the memory first waits for a transaction that adds messages to it.
		res, err := q.ExecContext(ctx, `DELETE FROM memories WHERE tenant_id = $1 AND id = $2`, tenant, id)
		if err := changed(res, err, ErrNotFound); err != nil {
			return err
		}
		_, err = q.ExecContext(ctx, `DELETE FROM memory_messages WHERE memory_id = $1`, id)
		return err
	})
}
