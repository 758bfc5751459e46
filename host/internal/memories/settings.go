package memories

import (
	"fmt"
	"slices"
	"strings"
)

// Kinds of messages: raw exchanges, and messages that a model extracts from them.
const (
	Raw        = "raw"
	Semantic   = "semantic"
	Episodic   = "episodic"
	Procedural = "procedural"
)

// Kinds are all kinds of messages.
var Kinds = []string{Raw, Semantic, Episodic, Procedural}

// The users of a tenant who see a memory.
const (
	PermissionMe   = "me"
	PermissionTeam = "team"
)

// Bounds of memories.
const (
	LongestName = 128 // characters
	LargestSize = 10 << 20
	defaultSize = 5 << 20
	longestText = 64 << 10 // of descriptions and prompts, in bytes
)

// Settings belong to a memory.
type Settings struct {
	Project string `json:"-"` // that holds the memory; a column of its record
	// Types are the kinds of messages; raw ones are always stored.
	Types []string `json:"types"`
	// LLM extracts; "" is the tenant's default model.
	LLM string `json:"llm,omitempty"`
	// Embedding is a note of the client; vectors are of the tenant's embedding model.
	Embedding   string  `json:"embedding,omitempty"`
	Permission  string  `json:"permission"`
	Size        int64   `json:"size"` // bytes of messages and vectors
	Temperature float64 `json:"temperature"`
	Description string  `json:"description,omitempty"`
	Avatar      string  `json:"avatar,omitempty"`
	// SystemPrompt instructs the model to extract; "" is the default. UserPrompt comes before the
	// exchange.
	SystemPrompt string `json:"system_prompt,omitempty"`
	UserPrompt   string `json:"user_prompt,omitempty"`
}

// Defaults returns the settings of a new memory.
func Defaults() Settings { return Settings{Temperature: 0.5} }

func (s *Settings) fill() {
	if len(s.Types) == 0 {
		s.Types = []string{Raw}
	}
	var types []string
	for _, k := range Kinds {
		if slices.Contains(s.Types, k) {
			types = append(types, k)
		}
	}
	for _, k := range s.Types {
		if !slices.Contains(Kinds, k) {
			types = append(types, k) // check refuses it
		}
	}
	s.Types = types
	if s.Permission == "" {
		s.Permission = PermissionMe
	}
	if s.Size == 0 {
		s.Size = defaultSize
	}
}

// CheckName refuses a name that is empty or too long. Errors: [ErrSettings].
func CheckName(name string) error {
	if n := len([]rune(name)); n == 0 || n > LongestName {
		return fmt.Errorf("%w: name has %d characters (1 to %d)", ErrSettings, n, LongestName)
	}
	return nil
}

func (s *Settings) check() error {
	for _, k := range s.Types {
		if !slices.Contains(Kinds, k) {
			return fmt.Errorf("%w: type %.40q (one of %s)", ErrSettings, k, strings.Join(Kinds, ", "))
		}
	}
	switch {
	case s.Permission != PermissionMe && s.Permission != PermissionTeam:
		return fmt.Errorf("%w: permission %.40q (one of me, team)", ErrSettings, s.Permission)
	case s.Size < 0 || s.Size > LargestSize:
		return fmt.Errorf("%w: size of %d bytes (1 to %d)", ErrSettings, s.Size, LargestSize)
	case !(s.Temperature >= 0 && s.Temperature <= 1):
		return fmt.Errorf("%w: temperature %v (0 to 1)", ErrSettings, s.Temperature)
	}
	for _, text := range []string{s.Description, s.SystemPrompt, s.UserPrompt, s.LLM, s.Embedding, s.Avatar} {
		if len(text) > longestText {
			return fmt.Errorf("%w: text of %d bytes (at most %d)", ErrSettings, len(text), longestText)
		}
	}
	return nil
}

// FixedError is the [ErrNotEmpty] of settings that cannot change while a memory has messages.
type FixedError struct {
	Settings []string // types, embedding
}

func (e *FixedError) Error() string {
	return fmt.Sprintf("%v: it keeps its %s", ErrNotEmpty, strings.Join(e.Settings, " and "))
}

func (e *FixedError) Unwrap() error { return ErrNotEmpty }

// fixed lists the changed settings that cannot change while there are messages.
func (s *Settings) fixed(old *Settings) (names []string) {
	if s.Embedding != old.Embedding {
		names = append(names, "embedding")
	}
	if !slices.Equal(s.Types, old.Types) {
		names = append(names, "types")
	}
	return names
}

// Prompt returns the system prompt for extraction; "" if nothing is extracted.
func (s *Settings) Prompt() string {
	kinds := s.extracted()
	if s.SystemPrompt != "" || len(kinds) == 0 {
		return s.SystemPrompt
	}
	return extractionPrompt(kinds)
}

// extracted returns the kinds that a model has to find.
func (s *Settings) extracted() []string {
	return slices.DeleteFunc(slices.Clone(s.Types), func(k string) bool { return k == Raw })
}
