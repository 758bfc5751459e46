package enginetest

import (
	"context"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// Memory is an engine.Memory that records its calls. The zero Memory is ready.
type Memory struct {
	mu    sync.Mutex
	saved []engine.Value
	cuts  repetitions
}

// Remember keeps one exchange.
func (m *Memory) Remember(ctx context.Context, r *engine.Remembered) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	saved := engine.Object(
		"memory_ids", r.MemoryIDs, "user_input", r.UserInput, "agent_response", r.AgentResponse)
	if _, again := m.cuts.take(saved, m.saved); !again {
		m.saved = append(m.saved, saved)
	}
	return nil
}

// Saved lists the recorded exchanges, oldest first: {memory_ids, user_input, agent_response}.
func (m *Memory) Saved() []engine.Value {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]engine.Value(nil), m.saved...)
}
