package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
)

// MemoryMessage is a message in a memory.
type MemoryMessage struct {
	ID      int64 // counts up in its memory
	Memory  string
	Kind    string // raw, or what was extracted
	Source  int64  // the raw message that it was extracted from; 0 for none
	User    string
	Visitor Visitor // whose run it is of
	Agent   string
	Session string
	Content string
	// Vector is the embedding of the content by Model; nil without one.
	Vector    []float32
	Model     string
	ValidAt   int64 // Unix milliseconds
	InvalidAt int64 // Unix milliseconds; 0 while it is valid
	ForgetAt  int64 // Unix milliseconds; 0 unless it was forgotten
	Disabled  bool  // searches leave it out
}

func (m *MemoryMessage) size() int64 { return int64(len(m.Content) + 4*len(m.Vector)) }

const memoryMessageColumns = `memory_id, id, kind, source_id, user_id, agent_id, session_id, content, model, vector,
	valid_at, invalid_at, forget_at, disabled, visitor`

func scanMemoryMessage(r row) (MemoryMessage, error) {
	var v MemoryMessage
	var vector []byte
	err := r.Scan(&v.Memory, &v.ID, &v.Kind, &v.Source, &v.User, &v.Agent, &v.Session, &v.Content, &v.Model, &vector,
		&v.ValidAt, &v.InvalidAt, &v.ForgetAt, &v.Disabled, &v.Visitor)
	if err == nil && len(vector)%4 != 0 {
		err = fmt.Errorf("vector of message %d: %w", v.ID, ErrCorrupt)
	}
	for ; err == nil && len(vector) > 0; vector = vector[4:] {
		v.Vector = append(v.Vector, math.Float32frombits(binary.LittleEndian.Uint32(vector)))
	}
	return v, err
}

func vectorBytes(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// Add adds messages to a memory, all or none, and fills in their ids. The first one
// is the source of those whose Source is -1. The memory has at most limit bytes afterwards:
// forgotten messages and then the oldest ones are removed.
//
// Errors: [ErrNotFound], [ErrMemoryFull] when the messages alone are larger, [ErrInvalid].
func (m Memories) Add(ctx context.Context, tenant, memory string, limit int64, list []MemoryMessage) error {
	what := fmt.Sprintf("add to memory %q", memory)
	size := int64(0)
	for i := range list {
		v := &list[i]
		v.Memory, v.Content = memory, printable(v.Content)
		size += v.size()
		if err := checkText("user", v.User, "agent", v.Agent, "session", v.Session,
			"visitor", string(v.Visitor)); err != nil {
			return fail(err, "%s", what)
		}
	}
	if size > limit {
		return fail(fmt.Errorf("%w: %d bytes of messages, at most %d", ErrMemoryFull, size, limit), "%s", what)
	}
	return m.write(ctx, what, func(ctx context.Context, q querier) error {
		// The row stays locked until the end, so that ids and sizes come one after another.
		const count = `UPDATE memories SET last_id = last_id + $3, size = size + $4
			WHERE tenant_id = $1 AND id = $2 RETURNING last_id, size`
		var last, total int64
		found, err := queryAll(ctx, q, func(r row) (bool, error) { return true, r.Scan(&last, &total) },
			count, tenant, memory, len(list), size)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return ErrNotFound
		}
		for i := range list {
			v := &list[i]
			v.ID = last - int64(len(list)-1-i)
			if v.Source < 0 {
				v.Source = list[0].ID
			}
			if err := insertMemoryMessage(ctx, q, tenant, v); err != nil {
				return err
			}
		}
		return trimMemory(ctx, q, memory, total-limit, list[0].ID)
	})
}

func insertMemoryMessage(ctx context.Context, q querier, tenant string, m *MemoryMessage) error {
	const insert = `INSERT INTO memory_messages (` + memoryMessageColumns + `, tenant_id, size)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`
	disabled := 0
	if m.Disabled {
		disabled = 1
	}
	_, err := q.ExecContext(ctx, insert, m.Memory, m.ID, m.Kind, m.Source, m.User, m.Agent, m.Session, m.Content,
		m.Model, vectorBytes(m.Vector), m.ValidAt, m.InvalidAt, m.ForgetAt, disabled, m.Visitor, tenant, m.size())
	return err
}

// trimMemory removes messages before id until excess bytes are free.
func trimMemory(ctx context.Context, q querier, memory string, excess, id int64) error {
	if excess <= 0 {
		return nil
	}
	type old struct{ id, size int64 }
	const oldest = `SELECT id, size FROM memory_messages WHERE memory_id = $1 AND id < $2
		ORDER BY CASE WHEN forget_at > 0 THEN 0 ELSE 1 END, valid_at, id`
	list, err := queryAll(
		ctx, q, func(r row) (v old, err error) { return v, r.Scan(&v.id, &v.size) }, oldest, memory, id,
	)
	freed := int64(0)
	for i := 0; err == nil && freed < excess && i < len(list); i++ {
		freed += list[i].size
		_, err = q.ExecContext(ctx, `DELETE FROM memory_messages WHERE memory_id = $1 AND id = $2`, memory, list[i].id)
	}
	if err == nil {
		_, err = q.ExecContext(ctx, `UPDATE memories SET size = size - $2 WHERE id = $1`, memory, freed)
	}
	return err
}

// MemoryFilter selects messages; empty fields select all.
type MemoryFilter struct {
	Memories []string
	Agents   []string
	User     string // leaves out messages of visitors who only claim to be this user
	Visitor  Visitor
	Session  string
	Sessions string // part of the session's id
	Kind     string
	ID       int64
	// Sources, unless nil, selects messages that were extracted from one in this range of ids.
	Sources *[2]int64
	// Live leaves out messages that were forgotten, and Enabled those that are disabled.
	Live, Enabled bool
}

// Messages returns a page of messages of a tenant, newest first, and counts all that match.
func (m Memories) Messages(ctx context.Context, tenant string, f MemoryFilter, p Page) ([]MemoryMessage, int, error) {
	var w where
	w.add("tenant_id = ?", tenant)
	w.in("memory_id", f.Memories)
	w.in("agent_id", f.Agents)
	w.byUser(f.User, f.Visitor)
	w.equal("session_id", f.Session)
	w.equal("kind", f.Kind)
	if f.Sessions != "" {
		w.add(`session_id LIKE ? ESCAPE '!'`, "%"+quoted(f.Sessions)+"%")
	}
	if f.ID != 0 {
		w.add("id = ?", f.ID)
	}
	if f.Sources != nil {
		w.add("source_id > 0 AND source_id BETWEEN ? AND ?", f.Sources[0], f.Sources[1])
	}
	if f.Live {
		w.add("forget_at = 0")
	}
	if f.Enabled {
		w.add("disabled = 0")
	}
	const what = "messages of memories"
	var total int
	row := m.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM memory_messages`+w.String(), w.args...)
	if err := row.Scan(&total); err != nil {
		return nil, 0, fail(err, what)
	}
	query := `SELECT ` + memoryMessageColumns + ` FROM memory_messages` + w.String() + ` ORDER BY valid_at DESC, ` +
		`memory_id, id DESC`
	args := w.args
	if p.Limit > 0 {
		query += fmt.Sprintf(" LIMIT $%d OFFSET $%d", len(args)+1, len(args)+2)
		args = append(args, p.Limit, p.Offset)
	}
	out, err := queryAll(ctx, m.read, scanMemoryMessage, query, args...)
	return out, total, fail(err, what)
}

// Forget hides a message from now on; it is the first to go when room is needed.
// Errors: [ErrNotFound].
func (m Memories) Forget(ctx context.Context, tenant, memory string, id int64) error {
	return m.set(ctx, tenant, memory, id, "forget_at", m.ms())
}

// Enable shows a message to searches, or hides it. Errors: [ErrNotFound].
func (m Memories) Enable(ctx context.Context, tenant, memory string, id int64, on bool) error {
	disabled := int64(1)
	if on {
		disabled = 0
	}
	return m.set(ctx, tenant, memory, id, "disabled", disabled)
}

func (m Memories) set(ctx context.Context, tenant, memory string, id int64, column string, v int64) error {
	return m.writeAlways(ctx, fmt.Sprintf(
		"message %d of memory %q", id, memory,
	), func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, `UPDATE memory_messages SET `+column+` = $4
			WHERE tenant_id = $1 AND memory_id = $2 AND id = $3`, tenant, memory, id, v)
		return changed(res, err, ErrNotFound)
	})
}
