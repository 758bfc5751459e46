package app

import (
	"errors"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/memories"
	"github.com/easel-canvas/easel/host/internal/store"
)

type (
	// AgentMemory is a memory with its settings.
	AgentMemory = memories.Memory
	// MemorySettings belong to a memory.
	MemorySettings = memories.Settings
	// MemoryMessage is a message of a memory.
	MemoryMessage = memories.Message
	// MemoryFilter selects messages of memories.
	MemoryFilter = store.MemoryFilter
	// MemoryQuery selects messages of memories.
	MemoryQuery = memories.Query
	// MemoryHit is a message that was found.
	MemoryHit = memories.Hit
	// MemoryExchange is a question and its answer.
	MemoryExchange = memories.Exchange
	// MemoryFixedError refuses settings that a memory with messages keeps.
	MemoryFixedError = memories.FixedError
)

// Values of memories.
const (
	MemoryRaw         = memories.Raw
	LongestMemoryName = memories.LongestName
	LargestMemory     = memories.LargestSize
	MemoryForTeam     = memories.PermissionTeam
	MemoryForMe       = memories.PermissionMe
)

// MemoryKinds are the kinds of messages of memories.
var MemoryKinds = memories.Kinds

// Errors of memories.
var (
	ErrNoMemory       = memories.ErrUnknown
	ErrMemorySettings = memories.ErrSettings
	ErrMemoryQuery    = memories.ErrQuery
	ErrMemoryFull     = store.ErrMemoryFull
	ErrMemoryModel    = memories.ErrIncomplete
)

// NewMemorySettings are the settings of a new memory.
func NewMemorySettings() MemorySettings { return memories.Defaults() }

// Remembers returns the user of memories on behalf of a principal.
func (p Principal) Remembers() memories.Principal {
	return memories.Principal{Viewer: p.Viewer(), Act: p.Act, Caller: p.Caller}
}

// MemoryError puts the errors of memories into words for callers; others stay.
func MemoryError(err error) error {
	var fixed *MemoryFixedError
	var role *access.RoleError
	switch {
	case errors.As(err, &role):
		return refused(err)
	case errors.As(err, &fixed):
		return Refuse(CodeNotEmpty, "%s", err)
	case errors.Is(err, ErrNoMemory):
		return Missing("memory")
	case errors.Is(err, ErrMemoryModel):
		return Refuse(CodeMemoryModel, "%s", err)
	case errors.Is(err, ErrMemorySettings), errors.Is(err, ErrMemoryQuery):
		return BadArgument("%s", err)
	case errors.Is(err, ErrMemoryFull):
		return Refuse(CodeMemoryFull, "%s", err)
	}
	return missing(err, "message")
}
