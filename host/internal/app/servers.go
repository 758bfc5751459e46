package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/mcp"
	"github.com/easel-canvas/easel/host/internal/store"
)

// MCP reaches MCP servers; *mcp.Client is one.
type MCP interface {
	Tools(ctx context.Context, owner string, s mcp.Server) ([]engine.Value, error)
	Call(ctx context.Context, owner string, s mcp.Server, tool string, arguments engine.Value) (string, error)
	// AllowsStdio reports whether servers may run as processes of this machine.
	AllowsStdio() bool
}

// ServerDoc is the stored document of an MCP server, without its name.
type ServerDoc = mcp.Doc

// ServerChange is an update of an MCP server; see [mcp.Doc.Apply].
type ServerChange = mcp.Change

// KeptValue stands for a stored value in a [ServerChange].
const KeptValue = mcp.Kept

// Errors of the configuration of an MCP server.
var (
	// ErrServerType means that the type is not supported.
	ErrServerType = mcp.ErrType
	// ErrServerStdio means that this host starts no servers as processes.
	ErrServerStdio = mcp.ErrStdio
	// ErrServerCommand means that a stdio server has no command.
	ErrServerCommand = mcp.ErrCommand
)

// ToolsVariable is the variable of a server that holds its tools; the others fill its headers.
const ToolsVariable = mcp.ToolsVariable

// ErrNoMCP means that this host does not support MCP servers.
var ErrNoMCP = errors.New("MCP servers cannot be reached here")

// Servers are the MCP servers of tenants.
type Servers struct {
	store  *store.Store
	mcp    MCP // nil for none
	logger *slog.Logger
}

// ServerKind is the kind of items that are MCP servers.
const ServerKind = "mcp"

// ParseServer reads the document of a server.
func ParseServer(item Item) (ServerDoc, error) {
	d, err := mcp.ParseDoc(item.Doc, item.Secret)
	if err != nil {
		err = fmt.Errorf("MCP server %q: %w", item.Name, err)
	}
	return d, err
}

// serverItem finds a server of a tenant by its id or, in documents that people wrote, by its name.
// Errors: [ErrNotFound].
func serverItem(ctx context.Context, records *store.Store, tenant, id string) (Item, error) {
	item, err := records.Items.Get(ctx, tenant, ServerKind, id)
	if errors.Is(err, store.ErrNotFound) && id != "" {
		return records.Items.Named(ctx, tenant, ServerKind, id)
	}
	return item, err
}

// FindServer returns a function that looks up a server of a tenant by its id or name.
func FindServer(records *store.Store, tenant string) func(ctx context.Context, id string) (mcp.Server, error) {
	return func(ctx context.Context, id string) (mcp.Server, error) {
		item, err := serverItem(ctx, records, tenant, id)
		if errors.Is(err, store.ErrNotFound) {
			return mcp.Server{}, fmt.Errorf("MCP server %q is not known; add it first", id)
		}
		if err != nil {
			return mcp.Server{}, err
		}
		d, err := ParseServer(item)
		return d.Server(item.ID, item.Name), err
	}
}

// ReadServer reads a server in the form in which other programs store it.
func ReadServer(v engine.Value) (ServerDoc, error) { return mcp.ReadDoc(v) }

// Check reports what is wrong with a server. Errors: [ErrServerType], [ErrServerStdio],
// [ErrServerCommand], [mcp.ErrAddress].
func (s *Servers) Check(d ServerDoc, name string) error {
	if d.Type == mcp.TypeStdio && (s.mcp == nil || !s.mcp.AllowsStdio()) {
		return ErrServerStdio
	}
	server := d.Server("", name)
	return server.Check()
}

// List returns the servers of a tenant.
func (s *Servers) List(ctx context.Context, tenant string) ([]Item, error) {
	return s.store.Items.List(ctx, tenant, ServerKind)
}

// Get finds a server and reads its document. Errors: [ErrNotFound].
func (s *Servers) Get(ctx context.Context, tenant, id string) (Item, ServerDoc, error) {
	item, err := s.store.Items.Get(ctx, tenant, ServerKind, id)
	if err != nil {
		return item, ServerDoc{}, err
	}
	d, err := ParseServer(item)
	return item, d, err
}

// Has reports whether a tenant has a server with a name.
func (s *Servers) Has(ctx context.Context, tenant, name string) bool {
	_, err := s.store.Items.Named(ctx, tenant, ServerKind, name)
	return err == nil
}

// Put stores a server with its document. Errors: [ErrExists].
func (s *Servers) Put(ctx context.Context, tenant string, item Item, d ServerDoc) (Item, error) {
	var err error
	if item.Doc, item.Secret, err = d.Encode(); err != nil {
		return item, err
	}
	item.Tenant, item.Kind = tenant, ServerKind
	return s.store.Items.Put(ctx, item)
}

// PutWithTools is Put with the tools that the server offers now.
func (s *Servers) PutWithTools(
	ctx context.Context, tenant string, item Item, d ServerDoc, wait time.Duration,
) (Item, error) {
	tools, err := s.Tools(ctx, tenant, d, item, wait)
	if err != nil {
		s.logger.Info("MCP server has no tools now", "err", err)
	}
	d.Variables = d.Variables.With(ToolsVariable, tools)
	return s.Put(ctx, tenant, item, d)
}

// Delete removes a server. Errors: [ErrNotFound].
func (s *Servers) Delete(ctx context.Context, tenant, id string) error {
	return s.store.Items.Delete(ctx, tenant, ServerKind, id)
}

// Tools lists the tools of a server, name -> tool; an unreachable one has none.
func (s *Servers) Tools(
	ctx context.Context, tenant string, d ServerDoc, item Item, wait time.Duration,
) (engine.Value, error) {
	out := engine.NewObject(8)
	if s.mcp == nil {
		return out.Value(), ErrNoMCP
	}
	ctx, done := context.WithTimeout(ctx, wait)
	defer done()
	server := d.Server(item.ID, item.Name)
	filled, hide, err := server.Filled(ctx, SecretsOf(s.store, tenant))
	if err != nil {
		return out.Value(), err
	}
	list, err := s.mcp.Tools(ctx, "edit "+tenant, filled)
	for _, t := range list {
		t = hide.PlainValue(t)
		out.Set(t.Get("name").Str(), t.With("enabled", engine.Bool(true)))
	}
	return out.Value(), hide.PlainError(err)
}

// Call calls a tool of a server. Errors: [ErrNoMCP], those of the tool.
func (s *Servers) Call(
	ctx context.Context, tenant string, d ServerDoc, item Item, tool string, arguments engine.Value,
) (string, error) {
	if s.mcp == nil {
		return "", ErrNoMCP
	}
	server := d.Server(item.ID, item.Name)
	filled, hide, err := server.Filled(ctx, SecretsOf(s.store, tenant))
	if err != nil {
		return "", err
	}
	text, err := s.mcp.Call(ctx, "edit "+tenant, filled, tool, arguments)
	return hide.Plain(text), hide.PlainError(err)
}
