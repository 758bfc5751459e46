package redisdoor

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// keyMap stores keys in memory and signals each write.
type keyMap struct {
	mu      sync.Mutex
	keys    map[string]string
	written chan string
}

func (m *keyMap) Put(_ context.Context, key string, value []byte, _ time.Duration) error {
	m.mu.Lock()
	m.keys[key] = string(value)
	m.mu.Unlock()
	m.written <- key
	return nil
}

func (m *keyMap) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.keys, key)
	return nil
}

func (m *keyMap) get(key string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.keys[key]
}

func TestTracesNameTheToolAndAreForgotten(t *testing.T) {
	keys := &keyMap{keys: map[string]string{"t-cancel": "x"}, written: make(chan string, 2)}
	traces := NewTraces(slog.New(slog.DiscardHandler), keys)
	go traces.Write(t.Context())
	call := engine.Object("component_id", "Agent:A", "path", "Guide", "tool", "Web_Search", "tool_name",
		"tavily_search_0")
	tell := func() string {
		traces.Tool("t", "m", call)
		<-keys.written
		<-keys.written
		return keys.get("t-logs")
	}
	const entry = `{"path":"Guide-->Web_Search","tool_name":"tavily_search_0","arguments":null,"result":null,` +
		`"elapsed_time":null}`
	require.JSONEq(t, `[{"component_id":"Agent:A","trace":[`+entry+`]}]`, tell())
	require.NoError(t, traces.Forget(t.Context(), "t"))
	require.Empty(t, keys.get("t-logs"))
	require.Empty(t, keys.get("t-cancel"))
	require.JSONEq(t, `[{"component_id":"Agent:A","trace":[`+entry+`]}]`, tell(), "a new trace starts")
}
