// Package memories stores messages of runs for later runs: exchanges of user and agent, and facts
// that a model extracted from them.
//
// A [Memory] belongs to a tenant and bounds its bytes. Messages are found by words and, when the
// tenant has an embedding model, by meaning ([Store.Search]). [Store.Of] is the engine's port of a
// run. A Store is safe for concurrent use.
package memories

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Errors. Those of package store are returned unchanged.
var (
	// ErrSettings means that a setting is not accepted; the message names it.
	ErrSettings = errors.New("setting of a memory is not accepted")
	// ErrNotEmpty means that a setting cannot change while the memory has messages.
	ErrNotEmpty = errors.New("memory is not empty")
	// ErrQuery means that a search exceeds a bound; request less.
	ErrQuery = errors.New("search of memories is not accepted")
	// ErrIncomplete means that a model failed: the exchange is stored without extracted messages.
	ErrIncomplete = errors.New("memory keeps the exchange only")
	// ErrUnknown means that the memory does not exist for this tenant and user.
	ErrUnknown = errors.New("memory not found")
)

// Models are the models of one caller of a tenant.
type Models interface {
	engine.Model
	// Embed returns one vector per text, of the model EmbeddingModel.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// EmbeddingModel names the tenant's embedding model; "" without one.
	EmbeddingModel(ctx context.Context) (string, error)
}

// Store stores the memories of all tenants.
type Store struct {
	Records store.Memories
	// Models returns the models of a caller of a tenant.
	Models func(tenant, caller string) Models
	Now    func() time.Time // nil means time.Now
}

// Principal identifies the user of memories.
type Principal struct {
	access.Viewer
	Act    access.Action // what is done with memories
	Caller string        // pays for model tokens
}

// Memory is a memory with its settings.
type Memory struct {
	store.Memory
	Settings Settings
}

// Message is a message of a memory.
type Message = store.MemoryMessage

// New returns a store of memories in records, with the models of their tenants.
func New(records *store.Store, models *model.Tenants) *Store {
	of := func(tenant, caller string) Models { return models.Of(tenant, caller) }
	return &Store{Records: records.Memories, Models: of}
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func read(v store.Memory) (Memory, error) {
	m := Memory{Memory: v}
	if err := json.Unmarshal(v.Settings, &m.Settings); err != nil {
		return m, fmt.Errorf("memory %q: settings: %w", v.ID, err)
	}
	m.Settings.Project = v.Project
	return m, nil
}

// Create creates a memory. A name that is taken gets a number: notes(1).
func (s *Store) Create(ctx context.Context, who Principal, name string, settings Settings) (Memory, error) {
	settings.fill()
	name = strings.TrimSpace(name)
	if err := errors.Join(CheckName(name), settings.check()); err != nil {
		return Memory{}, err
	}
	doc, err := json.Marshal(settings)
	if err != nil {
		return Memory{}, err
	}
	v := store.Memory{Tenant: who.Tenant, User: who.User, Project: settings.Project, Settings: doc}
	if v.Name, err = s.free(ctx, who, name, ""); err != nil {
		return Memory{}, err
	}
	v, err = s.Records.Create(ctx, v)
	return Memory{v, settings}, err
}

// mostNumbers bounds how many memories of a tenant have one name with a number.
const mostNumbers = 1000

// free returns a name, with a number if another memory has it that the principal sees: names of
// others are free, since a number would reveal them.
func (s *Store) free(ctx context.Context, who Principal, name, except string) (string, error) {
	list, err := s.List(ctx, who)
	if err != nil {
		return "", err
	}
	taken := map[string]bool{}
	for i := range list {
		if list[i].ID != except {
			taken[strings.ToLower(list[i].Name)] = true
		}
	}
	base := []rune(name)
	for n := range mostNumbers {
		try := name
		if n > 0 {
			suffix := "(" + strconv.Itoa(n) + ")"
			try = string(base[:min(len(base), LongestName-len(suffix))]) + suffix
		}
		if !taken[strings.ToLower(try)] {
			return try, nil
		}
	}
	return "", store.ErrExists
}

// Get returns a memory. Errors: [ErrUnknown].
func (s *Store) Get(ctx context.Context, who Principal, id string) (Memory, error) {
	v, err := s.Records.Get(ctx, who.Tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return Memory{}, unknown(id)
	}
	if err != nil {
		return Memory{}, err
	}
	m, err := read(v)
	if err == nil {
		err = who.Check(who.Act, m.Access())
	}
	if errors.Is(err, access.ErrHidden) {
		return Memory{}, unknown(id)
	}
	return m, err
}

func unknown(id string) error { return fmt.Errorf("%w: %q", ErrUnknown, id) }

func (m *Memory) isFor(who Principal) bool { return who.May(m.Access()) }

// Access returns whose the memory is.
func (m *Memory) Access() access.Object {
	return access.Object{
		Tenant: m.Tenant, Owner: m.User, Team: m.Settings.Permission == PermissionTeam, Kind: access.Memory, ID: m.ID,
		Project: m.Project,
	}
}

// AccessOf returns whose a stored memory is.
func AccessOf(v store.Memory) (access.Object, error) {
	m, err := read(v)
	return m.Access(), err
}

// List returns the memories that a principal sees, those changed last first.
func (s *Store) List(ctx context.Context, who Principal) ([]Memory, error) {
	rows, err := s.Records.List(ctx, who.Tenant)
	if err != nil {
		return nil, err
	}
	list := make([]Memory, 0, len(rows))
	for _, v := range rows {
		m, err := read(v)
		if err != nil {
			return nil, err
		}
		if m.isFor(who) {
			list = append(list, m)
		}
	}
	return list, nil
}

// Update changes name and settings of a memory; change may return an error. The extracted kinds and
// the embedding model cannot change while the memory has messages.
//
// Errors: [ErrUnknown], [ErrSettings], [ErrNotEmpty].
func (s *Store) Update(
	ctx context.Context, who Principal, id string, change func(name *string, settings *Settings) error,
) (Memory, error) {
	old, err := s.Get(ctx, who, id)
	if err != nil {
		return old, err
	}
	next := old
	next.Settings.Types = slices.Clone(old.Settings.Types)
	if err := change(&next.Name, &next.Settings); err != nil {
		return old, err
	}
	next.Settings.fill()
	next.Name = strings.TrimSpace(next.Name)
	if err := errors.Join(CheckName(next.Name), next.Settings.check()); err != nil {
		return old, err
	}
	next.Project = next.Settings.Project
	if next.Access() != old.Access() { // moved or shared
		if err := who.Check(access.Delete, old.Access()); err != nil {
			return old, err
		}
	}
	if fixed := next.Settings.fixed(&old.Settings); len(fixed) > 0 && old.Size > 0 {
		return old, &FixedError{fixed}
	}
	if next.Memory.Settings, err = json.Marshal(next.Settings); err != nil {
		return old, err
	}
	if next.Name != old.Name {
		if next.Name, err = s.free(ctx, who, next.Name, id); err != nil {
			return old, err
		}
	}
	next.Memory, err = s.Records.Update(ctx, next.Memory)
	return next, err
}

// Delete removes a memory with its messages. Errors: [ErrUnknown].
func (s *Store) Delete(ctx context.Context, who Principal, id string) error {
	if _, err := s.Get(ctx, who, id); err != nil {
		return err
	}
	err := s.Records.Delete(ctx, who.Tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return unknown(id)
	}
	return err
}

// Messages returns a page of messages of memories that a principal sees, newest first, and counts
// all. Errors: [ErrUnknown].
func (s *Store) Messages(
	ctx context.Context, who Principal, f store.MemoryFilter, p store.Page,
) ([]Message, int, error) {
	for _, id := range f.Memories {
		if _, err := s.Get(ctx, who, id); err != nil {
			return nil, 0, err
		}
	}
	if len(f.Memories) == 0 {
		return nil, 0, nil
	}
	return s.Records.Messages(ctx, who.Tenant, f, p)
}

// Message returns one message. Errors: [ErrUnknown], [store.ErrNotFound].
func (s *Store) Message(ctx context.Context, who Principal, memory string, id int64) (Message, error) {
	f := store.MemoryFilter{Memories: []string{memory}, ID: id}
	list, _, err := s.Messages(ctx, who, f, store.Page{Limit: 1})
	if err == nil && (len(list) == 0 || id == 0) {
		err = store.ErrNotFound
	}
	if err != nil {
		return Message{}, err
	}
	return list[0], nil
}

// Forget hides a message permanently. Errors: [ErrUnknown], [store.ErrNotFound].
func (s *Store) Forget(ctx context.Context, who Principal, memory string, id int64) error {
	if _, err := s.Get(ctx, who, memory); err != nil {
		return err
	}
	return s.Records.Forget(ctx, who.Tenant, memory, id)
}

// Enable includes a message in searches or excludes it. Errors: [ErrUnknown], [store.ErrNotFound].
func (s *Store) Enable(ctx context.Context, who Principal, memory string, id int64, on bool) error {
	if _, err := s.Get(ctx, who, memory); err != nil {
		return err
	}
	return s.Records.Enable(ctx, who.Tenant, memory, id, on)
}
