package contract

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAsksGiveReasons checks the lines for the person who grants permissions.
func TestAsksGiveReasons(t *testing.T) {
	asked := Permissions{
		HTTP: &HTTPPermission{
			Hosts: []string{"a.example", "b.example"}, Methods: []string{"GET"}, Reason: "Fetches it.",
		},
		Secrets: map[string]SecretPermission{"KEY": {Hosts: []string{"a.example"}, Reason: "Signs in."}},
		LLM:     &CountPermission{MaxCalls: 2, Reason: "Sums up."},
		Embed:   &CountPermission{MaxCalls: 1, Reason: "Compares."}, KV: &KVPermission{Bytes: 9, Reason: "Remembers."},
		Variables: &VariablePermission{Read: []string{"sys.query"}, Reason: "Reads the question."},
		Clock:     &ClockPermission{Precise: true, Reason: "Measures."},
	}
	require.Equal(t, []string{
		"http to a.example, http to b.example, http method GET: Fetches it.", "secret KEY for a.example: Signs in.",
		"2 calls of llm: Sums up.", "1 calls of embed: Compares.", "kv of 9 bytes: Remembers.",
		"reading sys.query: Reads the question.", "a precise clock: Measures.",
	}, asked.Asks(Permissions{}))
	require.Equal(t, []string{"http to b.example: Fetches it."}, Permissions{HTTP: asked.HTTP}.Asks(Permissions{
		HTTP: &HTTPPermission{Hosts: []string{"a.example"}, Methods: []string{"GET"}},
	}))
	require.Empty(t, asked.Asks(Everything()))
}
