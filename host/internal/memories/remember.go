package memories

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Exchange is a message of the user and the answer of the agent.
type Exchange struct {
	User, Agent, Session string // ids
	Visitor              store.Visitor
	Input, Response      string
}

func (e *Exchange) text() string { return "User Input: " + e.Input + "\nAgent Response: " + e.Response }

// Add stores an exchange in memories, with the messages that each of them extracts from it. The
// exchange is also stored if a model fails, which the error reports.
//
// Errors: [ErrUnknown], [ErrIncomplete], store.ErrMemoryFull.
func (s *Store) Add(ctx context.Context, who Principal, memories []string, e Exchange) error {
	var all error
	for _, id := range memories {
		all = errors.Join(all, s.addTo(ctx, who, id, e))
	}
	return all
}

func (s *Store) addTo(ctx context.Context, who Principal, id string, e Exchange) error {
	m, err := s.Get(ctx, who, id)
	if err != nil {
		return err
	}
	models := s.Models(who.Tenant, who.Caller)
	now := s.now().UnixMilli()
	list := []Message{{Kind: Raw, Content: e.text(), ValidAt: now}}
	found, failed := extract(ctx, models, &m.Settings, e.text(), s.now())
	list = append(list, found...)
	for i := range list {
		list[i].User, list[i].Agent, list[i].Session, list[i].Visitor = e.User, e.Agent, e.Session, e.Visitor
	}
	failed = errors.Join(failed, embedAll(ctx, models, list))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := s.Records.Add(ctx, who.Tenant, id, m.Settings.Size, list); err != nil {
		return fmt.Errorf("memory %q: %w", m.Name, err)
	}
	if failed != nil {
		return fmt.Errorf("memory %q: %w: %w", m.Name, ErrIncomplete, failed)
	}
	return nil
}

// embedAll fills in vectors, when the tenant has an embedding model.
func embedAll(ctx context.Context, models Models, list []Message) error {
	name, err := models.EmbeddingModel(ctx)
	if err != nil || name == "" {
		return err
	}
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].Content
	}
	vectors, err := models.Embed(ctx, texts)
	if err != nil {
		return fmt.Errorf("embedding: %w", err)
	}
	for i := range list {
		list[i].Vector, list[i].Model = vectors[i], name
	}
	return nil
}
